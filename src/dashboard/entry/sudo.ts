import { optional, string, type } from 'superstruct'
import { ApiError } from '../../errors/index.js'
import { findPerson, hasSudo, identitiesOf, proveAgain } from '../../people/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { ownPrefix } from '../shell/once.js'
import type { PersonPages } from '../shell/page.js'
import type { PersonVisit } from '../shell/visit.js'
import { type EntryDeps, safePath, visitorOf } from './way-in.js'

const SudoForm = type({ 'posthorn-password': string(), 'posthorn-code': optional(string()) })

/**
 * Asks once more who is there, before what is delicate; it is good for 15 minutes. A form that was on its way comes along:
 * its fields are hidden ones of this page, beside ours, which have names that no other form has.
 */
export function sudoPages(pages: PersonPages, { people, cookie, provider }: EntryDeps): void {
  const { read } = people.store

  const show = async (visit: PersonVisit, faults: Faults = noFaults) => {
    const user = await findPerson(read, visit.person.id)
    const isBound = (await identitiesOf(read, user.id)).length > 0
    const { next, to } = wayOf(visit)
    const way = new URLSearchParams({ next, ...(to !== undefined && { to }) })
    const kept = visit.fields.entries().filter(([name]) => !name.startsWith(ownPrefix))
    const view = {
      faults: atPassword(faults),
      next,
      way: `${way}`,
      isKept: to !== undefined,
      kept: to ? kept : [],
      hasPassword: user.password !== null,
      email: user.email,
      asksCode: user.totp_secret !== null,
      provider: isBound ? provider?.provider.name : undefined,
    }
    return page('entry/sudo', view, { title: 'Is it you?' })
  }

  pages.get('/sudo', 'own', (visit) => show(visit))
  // Who loads the page of a kept form anew by its address has lost the form, and finds back to where it was.
  pages.get('/sudo/ask', 'own', (visit) => show(visit))
  pages.post('/sudo/ask', { action: 'own', reads: true }, (visit) => show(visit))

  // Who proved it at the provider, in another tab: the form was kept in this one.
  pages.post('/sudo/proved', { action: 'own', again: show }, async (visit) => {
    if (hasSudo(visit.session, visit.now)) return goOn(visit)
    throw new ApiError('forbidden', 'You have not shown yet that it is you')
  })

  pages.post('/sudo', { action: 'own', form: SudoForm, again: show }, async (visit) => {
    const { request, form, person, session } = visit
    const token = await proveAgain(people, {
      user: await findPerson(read, person.id),
      session,
      token: cookie.read(request) ?? '',
      password: form['posthorn-password'],
      code: form['posthorn-code'] ?? '',
      visitor: visitorOf(request),
    })
    return goOn(visit, cookie.set(request, token))
  })
}

/** Leads on who has proved it: to where the form that was kept is sent, or back to the page. */
export function goOn(visit: Omit<PersonVisit, 'form'>, cookie?: string): PageAnswer {
  const { next, to } = wayOf(visit)
  // A new value for the session: a copy of the cookie of before does not rise with it.
  const headers: Record<string, string> = cookie === undefined ? {} : { 'Set-Cookie': cookie }
  if (to !== undefined) return redirect(to, { headers, keepsForm: true })
  return redirect(next, { headers, flash: 'Thank you: we know that it is you. Please go on.' })
}

/**
 * Back to which page, and where the form was to be sent. A GET has no such place: somebody else may have written the link, and
 * the form would do what they wanted.
 */
function wayOf({ query, request }: Pick<PersonVisit, 'query' | 'request'>) {
  const to = request.method === 'POST' ? safePath(query.get('to')) : undefined
  return { next: safePath(query.get('next')) ?? '/me', to }
}

/** A refusal stands beside the password, whose field has a name that `src/people` does not know. */
function atPassword({ message, fields, values }: Faults): Faults {
  return {
    message,
    values,
    fields: { ...fields, ...(message && { 'posthorn-password': message }) },
  }
}
