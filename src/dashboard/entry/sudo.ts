import { optional, string, type } from 'superstruct'
import { findPerson, proveAgain } from '../../people/index.js'
import { page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { PersonPages } from '../shell/page.js'
import type { PersonVisit } from '../shell/visit.js'
import { type EntryDeps, safePath, visitorOf } from './way-in.js'

const SudoForm = type({ password: string(), code: optional(string()), next: optional(string()) })

/** Asks once more who is there, before what is delicate; it is good for 15 minutes. */
export function sudoPages(pages: PersonPages, { people, cookie }: EntryDeps): void {
  const { read } = people.store

  const show = async ({ person, query }: PersonVisit, faults: Faults = noFaults) => {
    const user = await findPerson(read, person.id)
    const sent = faults.values.next
    // Somebody else may have written the link that led here.
    const next = safePath(typeof sent === 'string' ? sent : query.get('next')) ?? '/me'
    const view = {
      ...{ faults, next, asksCode: user.totp_secret !== null },
      ...{ hasPassword: user.password !== null, email: user.email },
    }
    return page('entry/sudo', view, { title: 'Is it you?' })
  }

  pages.get('/sudo', 'own', (visit) => show(visit))

  pages.post('/sudo', { action: 'own', form: SudoForm, again: show }, async (visit) => {
    const { request, form, person, session } = visit
    const token = await proveAgain(people, {
      user: await findPerson(read, person.id),
      session,
      token: cookie.read(request) ?? '',
      ...{ password: form.password, code: form.code ?? '', visitor: visitorOf(request) },
    })
    // A new value for the session: a copy of the cookie of before does not rise with it.
    const headers = { 'Set-Cookie': cookie.set(request, token) }
    const flash = 'Thank you: we know that it is you. Please repeat what you wanted to do.'
    return redirect(safePath(form.next) ?? '/me', { headers, flash })
  })
}
