import { object, optional, string } from 'superstruct'
import {
  disablePerson,
  enablePerson,
  findPerson,
  identitiesOf,
  invite,
  inviterOf,
  listInvitations,
  listPeople,
  membershipsOf,
  resetPerson,
  revokeInvitation,
  setOperator,
  unbind,
} from '../../people/index.js'
import { pageOf } from '../../store/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { listOf } from '../shell/listing.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import type { OperatorPageDeps } from './deps.js'
import { linkPage } from './link-page.js'

const perPage = 50

/** `/operator/users`: everybody who logs in; like `posthorn user`. */
export function userPages(pages: OperatorPages, deps: OperatorPageDeps): void {
  const { store, clock } = deps
  const again = (visit: OperatorVisit, faults: Faults) => usersPage(deps, visit, faults)
  // `sudo`: somebody who finds an operator's browser open must not make another person an operator.
  const writes = { action: 'operator.write', sudo: true, again } as const
  const oneAgain = (visit: OperatorVisit, faults: Faults) => userPage(deps, visit, faults)
  const changesOne = { action: 'operator.write', sudo: true, again: oneAgain } as const
  const person = async (id = '') => await findPerson(store.read, id)

  pages.get('/users', 'operator.read', (visit) => usersPage(deps, visit))
  pages.get('/users/:id', 'operator.read', (visit) => userPage(deps, visit))
  pages.post('/users/invite', { ...writes, form: object({ email: string() }) }, async (visit) => {
    const inviter = inviterOf(visit.person)
    const { email } = visit.form
    const { path } = await invite(deps, { accountId: null, email, role: 'operator', inviter })
    return linkPage(visit, path, {
      title: `Invitation for ${email.trim()}`,
      says: 'Whoever opens it becomes an operator. It is good for 7 days.',
      back: { label: 'Users', href: '/operator/users' },
      // The log has the address and not the link, because a reader of the log could open the link.
      audit: { action: 'user.invite', target: email.trim(), detail: { role: 'operator' } },
    })
  })
  pages.post('/users/invitations/:id/revoke', writes, async ({ params }) => {
    const { email } = await revokeInvitation(deps, null, params.id ?? '')
    return redirect('/operator/users', {
      flash: `The invitation of ${email} is withdrawn`,
      audit: { action: 'user.revoke-invitation', target: email },
    })
  })
  pages.post(
    '/users/:id/reset',
    { ...changesOne, form: object({ factors: optional(string()) }) },
    async (visit) => {
      const { id, email } = await person(visit.params.id)
      const withFactors = visit.form.factors !== undefined
      const { path } = await resetPerson({ store, clock }, id, { withFactors })
      return linkPage(visit, path, {
        title: `New password for ${email}`,
        says: 'Whoever opens it chooses the password. It is good for 15 minutes.',
        back: { label: 'Users', href: '/operator/users' },
        audit: { action: 'user.reset', target: email, detail: { withFactors } },
      })
    },
  )
  const changes = {
    unbind: async (id: string) => {
      await store.write(async (tx) => await unbind(tx, id))
    },
    disable: (id: string) => disablePerson(deps, id),
    enable: (id: string) => enablePerson(deps, id),
    promote: (id: string) => setOperator(deps, id, true),
    demote: (id: string) => setOperator(deps, id, false),
  }
  const said = {
    unbind: 'is known to the provider no more; their sessions have ended',
    disable: 'cannot log in any more; their sessions have ended',
    enable: 'can log in again',
    promote: 'is an operator now',
    demote: 'is not an operator any more',
  }
  for (const name of ['unbind', 'disable', 'enable', 'promote', 'demote'] as const) {
    pages.post(`/users/:id/${name}`, changesOne, async ({ params }) => {
      const { id, email } = await person(params.id)
      await changes[name](id)
      const audit = { action: `user.${name}`, target: email }
      return redirect(`/operator/users/${id}`, { flash: `${email} ${said[name]}`, audit })
    })
  }
}

/** Everybody, by address, and the invitations of operators that are still open. */
async function usersPage(
  { store: { read } }: OperatorPageDeps,
  { query, now, may }: OperatorVisit,
  faults: Faults = noFaults,
): Promise<PageAnswer> {
  const startsWith = query.get('q')?.trim() ?? ''
  const listing = { path: '/operator/users', query, filters: { q: startsWith } }
  const { rows: shown, ...beside } = await listOf(listing, async (after = '') => {
    const found = await listPeople(read, { startsWith, after, limit: perPage + 1 })
    return pageOf(found, perPage, ({ email }) => email.toLowerCase())
  })
  const invitations = await listInvitations(read, null, now)
  const view = {
    now,
    startsWith,
    faults,
    mayChange: may('operator.write'),
    rows: shown.map(({ hasTotp, passkeys, ...one }) => ({
      ...one,
      hasFactor: hasTotp || passkeys > 0,
    })),
    invitations: invitations.map(({ id, email, expiresAt, createdAt }) => ({
      id,
      email,
      expiresAt,
      createdAt,
    })),
    ...beside,
  }
  return page('operator/users', view, { title: 'Users', wide: true })
}

/** One person: how they log in, and which accounts they are in. */
async function userPage(
  { store: { read } }: OperatorPageDeps,
  { params, now, may, person }: OperatorVisit,
  faults: Faults = noFaults,
): Promise<PageAnswer> {
  const user = await findPerson(read, params.id ?? '')
  const memberships = await membershipsOf(read, user.id)
  const view = {
    now,
    faults,
    id: user.id,
    name: user.name,
    email: user.email,
    isOperator: user.operator === 1,
    isDisabled: user.disabled_at !== null,
    isProved: user.proved_at !== null,
    hasPassword: user.password !== null,
    hasTotp: user.totp_secret !== null,
    bound: (await identitiesOf(read, user.id)).map(({ issuer }) => issuer),
    createdAt: user.created_at,
    lastLoginAt: user.last_login_at,
    isMe: user.id === person.id,
    mayChange: may('operator.write'),
    accounts: memberships.map(({ accountId, accountName, role }) => ({
      id: accountId,
      name: accountName,
      role,
    })),
  }
  return page('operator/user', view, { title: user.name })
}
