import { optional, string, type } from 'superstruct'
import type { PageRequest } from '../../http/index.js'
import {
  addPasskey,
  askForNewPasskey,
  askForPasskey,
  enterByPasskey,
  findPerson,
  proveByPasskey,
  removePasskey,
} from '../../people/index.js'
import { file, redirect } from '../shell/answer.js'
import type { Shell } from '../shell/page.js'
import { goOn } from './sudo.js'
import { type EntryDeps, enter, mayLogIn, safePath, visitorOf } from './way-in.js'

const AnswerForm = type({ answer: string(), next: optional(string()) })
const ProofForm = type({ 'posthorn-answer': string() })
const NewForm = type({ answer: string(), name: optional(string()) })

/** Passkeys: to log in, to prove it again, and one's own. The script in `browser/passkey.ts` is the other half. */
export function passkeyPages({ open, person }: Pick<Shell, 'open' | 'person'>, deps: EntryDeps) {
  const { people, cookie } = deps
  const { read } = people.store
  const json = (value: object) => file(JSON.stringify(value), 'application/json')

  // POSTs, although they change nothing: by that no page elsewhere can have challenges made (`own-page.ts`).
  // `null`: who logs in has not said who they are, and the passkey says it.
  open.post('/login/passkey/options', { action: 'open', reads: true }, async ({ request }) =>
    json(await askForPasskey(people, siteOf(request), null)),
  )

  open.post('/login/passkey', { action: 'open', form: AnswerForm }, async ({ request, form }) => {
    if (!mayLogIn(deps, request)) return redirect('/login')
    const { answer, next } = form
    const given = { answer, site: siteOf(request), visitor: visitorOf(request) }
    const entered = await enterByPasskey(people, { ...given, cookie: cookie.read(request) })
    return await enter(deps, request, entered, safePath(next))
  })

  person.post('/sudo/passkey/options', { action: 'own', reads: true }, async (visit) =>
    json(await askForPasskey(people, siteOf(visit.request), visit.person.id)),
  )

  person.post('/sudo/passkey', { action: 'own', form: ProofForm }, async (visit) => {
    const { request, form } = visit
    const token = await proveByPasskey(people, {
      answer: form['posthorn-answer'],
      site: siteOf(request),
      visitor: visitorOf(request),
      userId: visit.person.id,
      token: cookie.read(request) ?? '',
    })
    return goOn(visit, cookie.set(request, token))
  })

  person.post('/me/passkeys/options', { action: 'own', sudo: true, reads: true }, async (visit) => {
    const user = await findPerson(read, visit.person.id)
    return json(await askForNewPasskey(people, siteOf(visit.request), user))
  })

  person.post('/me/passkeys', { action: 'own', form: NewForm, sudo: true }, async (visit) => {
    const { request, form, session } = visit
    const own = { id: session.id, token: cookie.read(request) ?? '', visitor: visitorOf(request) }
    const token = await addPasskey(people, {
      user: await findPerson(read, visit.person.id),
      answer: form.answer,
      session: own,
      name: form.name ?? '',
      site: siteOf(request),
    })
    const headers = { 'Set-Cookie': cookie.set(request, token) }
    return redirect('/me', { headers, flash: 'The passkey is added: you can log in with it alone' })
  })

  person.post('/me/passkeys/:id/remove', { action: 'own', sudo: true }, async (visit) => {
    const user = await findPerson(read, visit.person.id)
    await removePasskey(people, user, visit.params.id ?? '', visitorOf(visit.request))
    return redirect('/me', { flash: 'The passkey is removed' })
  })
}

/**
 * As the browser names us: it signs the origin, and makes a passkey for the host alone (WebAuthn §5.8.1, §4 'RP ID'), so
 * a page of another name gets a signature that is of no use here. A proxy hands the host on.
 */
function siteOf(request: PageRequest) {
  const host = (request.header('host') ?? '').toLowerCase()
  const origin = `${request.isSecure ? 'https' : 'http'}://${host}`
  return { origin, host: host.replace(/:\d+$/, '') }
}
