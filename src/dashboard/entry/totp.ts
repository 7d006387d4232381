import { string, type } from 'superstruct'
import {
  addTotp,
  findPerson,
  newTotpSecret,
  removeTotp,
  renewRecoveryCodes,
  totpPicture,
} from '../../people/index.js'
import { page, redirect } from '../shell/answer.js'
import { noFaults } from '../shell/faults.js'
import { Html } from '../shell/html.js'
import type { PersonPages } from '../shell/page.js'
import type { PersonVisit } from '../shell/visit.js'
import { type EntryDeps, visitorOf } from './way-in.js'

const NewTotp = type({ secret: string(), code: string() })

/** The authenticator app and the recovery codes that go with it. */
export function totpPages(pages: PersonPages, { people, cookie }: EntryDeps): void {
  const { read } = people.store

  const show = async ({ person, session, request }: PersonVisit, faults = noFaults) => {
    // The secret travels in the form and is not kept here: nothing is stored before a code has proved that the app has
    // it, and somebody who changes it on the way only changes their own.
    // After a wrong code the same secret is shown: it is in the person's app already.
    const sent = faults.values.secret
    const secret = typeof sent === 'string' ? sent : newTotpSecret()
    const host = (request.header('host') ?? '').replace(/:\d+$/, '')
    const { svg, uri } = totpPicture(secret, person.email, `Posthorn ${host}`.trim())
    const view = {
      faults,
      secret,
      uri,
      letters: secret.replaceAll(/.{4}(?=.)/g, '$& '),
      // Made here of letters and digits alone.
      picture: new Html(svg),
      must: session.mustAddFactor,
      isReplaced: (await findPerson(read, person.id)).totp_secret !== null,
    }
    return page('entry/totp', view, { title: 'Authenticator app' })
  }

  pages.get('/me/totp', 'own', (visit) => show(visit))

  const add = { action: 'own', form: NewTotp, sudo: true, again: show } as const
  pages.post('/me/totp', add, async ({ form, person, request, session }) => {
    const own = { id: session.id, token: cookie.read(request) ?? '', visitor: visitorOf(request) }
    const user = await findPerson(read, person.id)
    const { codes, token } = await addTotp(people, { ...form, user, session: own })
    const headers = { 'Set-Cookie': cookie.set(request, token) }
    // The only answer that has the codes: the database keeps their hashes.
    return page('entry/codes', { codes, isNew: true }, { title: 'Your recovery codes', headers })
  })

  pages.post('/me/totp/remove', { action: 'own', sudo: true }, async ({ person, request }) => {
    await removeTotp(people, await findPerson(read, person.id), visitorOf(request))
    return redirect('/me', { flash: 'No code is asked for at your log-in any more' })
  })

  pages.post('/me/recovery', { action: 'own', sudo: true }, async ({ person, request }) => {
    const user = await findPerson(read, person.id)
    const codes = await renewRecoveryCodes(people, user, visitorOf(request))
    return page('entry/codes', { codes, isNew: false }, { title: 'Your recovery codes' })
  })
}
