import { optional, string, type } from 'superstruct'
import { awaitedPerson, enterCode, isAnybodyThere, logIn } from '../../people/index.js'
import { page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { OpenPages } from '../shell/page.js'
import type { AskedPage } from '../shell/visit.js'
import { offered } from './kept.js'
import {
  type EntryDeps,
  enter,
  isOwnMachine,
  landing,
  mayLogIn,
  safePath,
  sessionHere,
  visitorOf,
} from './way-in.js'

/**
 * `isUnsafe`: the password would cross the network unencrypted, which the settings allow; the page
 * warns.
 */
interface LogInView {
  next: string
  /** A form is kept that was sent when a log-in had ended. */
  isKept: boolean
  faults: Faults
  isAnybodyThere: boolean
  isUnsafe: boolean
  /** The name of a provider by which people log in too, and the way there. */
  provider: { name: string; href: string } | undefined
}

const LogInForm = type({ email: string(), password: string(), next: optional(string()) })
const CodeForm = type({ code: string(), next: optional(string()) })

/** The log-in by a password, and a code where there is an authenticator. */
export function logInPages(pages: OpenPages, deps: EntryDeps): void {
  const { people, cookie } = deps

  const show = async ({ query, request }: AskedPage, faults = noFaults) => {
    if (!mayLogIn(deps, request)) return tooOpen(request.header('host') ?? '')
    const next = nextIn(query, faults)
    const isUnsafe = !request.isSecure && !isOwnMachine(request)
    const there = await isAnybodyThere(people.store.read)
    const way = next === '' ? '' : `?${new URLSearchParams({ next })}`
    const name = deps.provider?.provider.name
    const provider = name === undefined ? undefined : { name, href: `/login/provider${way}` }
    const isKept = next === offered
    const view: LogInView = { next, isKept, faults, isAnybodyThere: there, isUnsafe, provider }
    return page('entry/login', view, { title: 'Log in' })
  }

  pages.get('/login', 'open', async (visit) => {
    const session = await sessionHere(deps, visit.request)
    // Who is logged in already is led on and not asked again.
    if (session === undefined) return await show(visit)
    return redirect(safePath(visit.query.get('next')) ?? (await landing(deps, session)))
  })

  pages.post('/login', { action: 'open', form: LogInForm, again: show }, async (visit) => {
    const { request, form } = visit
    if (!mayLogIn(deps, request)) return tooOpen(request.header('host') ?? '')
    const visitor = visitorOf(request)
    const entered = await logIn(people, { ...form, visitor, cookie: cookie.read(request) })
    return await enter(deps, request, entered, safePath(form.next))
  })

  // Between password and code a cookie says whose code is awaited; without it there is nothing to
  // ask for.
  const showCode = async ({ query, request }: AskedPage, faults = noFaults) => {
    const person = await awaitedPerson(people, cookie.read(request))
    if (person === undefined) return redirect('/login')
    return page(
      'entry/code',
      { next: nextIn(query, faults), faults },
      { title: 'Log in: the code' },
    )
  }

  pages.get('/login/code', 'open', (visit) => showCode(visit))

  pages.post('/login/code', { action: 'open', form: CodeForm, again: showCode }, async (visit) => {
    const { request, form } = visit
    const given = { code: form.code, visitor: visitorOf(request), cookie: cookie.read(request) }
    return await enter(deps, request, await enterCode(people, given), safePath(form.next))
  })
}

/** Where to go after the log-in: kept by a form that comes again, else in the address. */
function nextIn(query: URLSearchParams, { values }: Faults): string {
  const sent = values.next
  return safePath(typeof sent === 'string' ? sent : query.get('next')) ?? ''
}

/** Instead of a log-in whose password everybody between could read. */
function tooOpen(host: string) {
  const view = { host: host.replace(/:\d+$/, '') }
  return page('entry/plain', view, {
    title: 'The log-in needs an encrypted connection',
    status: 403,
  })
}
