import { string, type } from 'superstruct'
import {
  changePassword,
  changeProfile,
  endOwnSession,
  endSession,
  findPerson,
  guessZone,
  hasSudo,
  identitiesOf,
  leastCharacters,
  listPasskeys,
  membershipsOf,
  recoveryCodesLeft,
  roleWords,
  sessionsOf,
} from '../../people/index.js'
import { nothing, page, redirect } from '../shell/answer.js'
import { noFaults } from '../shell/faults.js'
import type { PersonPages } from '../shell/page.js'
import type { PersonVisit } from '../shell/visit.js'
import { browserName } from './browser-name.js'
import { type EntryDeps, visitorOf } from './way-in.js'

const AboutForm = type({ name: string(), timeZone: string() })
const ZoneForm = type({ timeZone: string() })
const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')]
const PasswordForm = type({ current: string(), password: string() })

/** What people see and say about themselves. */
export function profilePages(pages: PersonPages, deps: EntryDeps): void {
  const { people, cookie } = deps
  const { read } = people.store
  const show = (visit: PersonVisit, faults = noFaults) => profile(deps, visit, faults)

  pages.get('/me', 'own', (visit) => show(visit))

  pages.post('/me', { action: 'own', form: AboutForm, again: show }, async ({ form, person }) => {
    await changeProfile(people, person.id, form)
    return redirect('/me', { flash: 'Your name and your time zone are saved' })
  })

  // By script, once: what the browser knows.
  const guess = { action: 'own', form: ZoneForm, reads: true } as const
  pages.post('/me/time-zone', guess, async ({ form, person }) => {
    await guessZone(people, person.id, form.timeZone)
    return nothing()
  })

  const change = { action: 'own', form: PasswordForm, again: show } as const
  pages.post('/me/password', change, async ({ form, person, request, session, now }) => {
    // This session goes on under a new token; all others end, as whoever knows the old password may
    // be in one.
    const own = { id: session.id, token: cookie.read(request) ?? '', visitor: visitorOf(request) }
    const user = await findPerson(read, person.id)
    // Who has a passkey alone has no password to show.
    if (user.password === null && !hasSudo(session, now)) return redirect('/sudo?next=/me')
    const token = await changePassword(people, { ...form, user, session: own })
    const headers = { 'Set-Cookie': cookie.set(request, token) }
    const flash = 'Your password is changed, and your other sessions have ended'
    return redirect('/me', { flash, headers })
  })

  // No `sudo`: whoever fears that somebody else is logged in must not be kept from ending that.
  pages.post('/me/sessions/end-others', { action: 'own' }, async ({ person, session }) => {
    const ended = await endOwnSession(people, person, { but: session.id })
    const flash = ended === 1 ? 'The other session has ended' : `${ended} other sessions have ended`
    return redirect('/me', { flash })
  })

  pages.post('/me/sessions/:id/end', { action: 'own' }, async ({ person, params }) => {
    await endOwnSession(people, person, { id: params.id ?? '' })
    return redirect('/me', { flash: 'The session has ended' })
  })

  // A POST: a picture on a page elsewhere could otherwise log people out.
  pages.post('/logout', { action: 'own' }, async ({ request }) => {
    const token = cookie.read(request) ?? ''
    // In the database first: a cookie that somebody has copied is then good for nothing.
    await people.store.write((tx) => endSession(tx, token))
    const headers = { 'Set-Cookie': cookie.clear(request) }
    return redirect('/login', { flash: 'You are logged out', headers })
  })
}

/** The page itself: one's name, how one logs in, where one is logged in, one's accounts. */
async function profile({ people, provider }: EntryDeps, visit: PersonVisit, faults = noFaults) {
  const { person, session, now } = visit
  const { read } = people.store
  const user = await findPerson(read, person.id)
  const sessions = await sessionsOf(read, person.id, now)
  const memberships = await membershipsOf(read, person.id)
  const view = {
    faults,
    now,
    name: user.name,
    email: user.email,
    timeZone: person.timeZone ?? 'UTC',
    zones,
    isOperator: person.isOperator,
    least: leastCharacters,
    hasTotp: user.totp_secret !== null,
    hasPassword: user.password !== null,
    passkeys: (await listPasskeys(read, person.id)).map(({ id, name, created_at, used_at }) => ({
      id,
      name,
      createdAt: created_at,
      usedAt: used_at,
    })),
    provider: provider?.provider.name,
    boundAt: (await identitiesOf(read, person.id))[0]?.created_at,
    codesLeft: await recoveryCodesLeft(read, person.id),
    accounts: memberships.map(({ accountId, accountName, role }) => ({
      name: accountName,
      href: `/a/${accountId}`,
      role,
      words: roleWords[role],
    })),
    sessions: sessions.map((one) => ({
      id: one.id,
      isThis: one.id === session.id,
      browser: browserName(one.agent),
      from: one.address_key,
      seenAt: one.seen_at,
      createdAt: one.created_at,
    })),
  }
  return page('entry/profile', view, { title: 'Your profile' })
}
