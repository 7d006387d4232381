import { enums, object, string } from 'superstruct'
import {
  invite,
  inviterOf,
  listInvitations,
  listTeam,
  memberRoles,
  roleWords,
} from '../../people/index.js'
import { page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import { accountOf, headOf } from './account.js'
import type { OperatorPageDeps } from './deps.js'
import { linkPage } from './link-page.js'

const Invited = object({ email: string(), role: enums(memberRoles) })

/** Who is in an account. An operator invites the first ones: a new account has nobody who could. */
export function accountPeoplePages(pages: OperatorPages, deps: OperatorPageDeps): void {
  const show = (visit: OperatorVisit, faults: Faults = noFaults) => teamPage(deps, visit, faults)
  pages.get('/accounts/:id/people', 'operator.read', (visit) => show(visit))
  pages.post(
    '/accounts/:id/people',
    { action: 'operator.write', form: Invited, sudo: true, again: show },
    async (visit) => {
      const { id, name } = await accountOf(deps.store.read, visit.params.id)
      const { role } = visit.form
      const email = visit.form.email.trim()
      const inviter = inviterOf(visit.person)
      const { path } = await invite(deps, { accountId: id, email, role, inviter })
      return linkPage(visit, path, {
        title: `Invitation for ${email}`,
        says: `Whoever opens it is in ${name} as ${role}. It is good for 7 days.`,
        back: { label: name, href: `/operator/accounts/${id}/people` },
        audit: { action: 'team.invite', target: email, accountId: id, detail: { role } },
      })
    },
  )
}

/** Members and open invitations. */
async function teamPage(deps: OperatorPageDeps, visit: OperatorVisit, faults: Faults) {
  const { read } = deps.store
  const { head } = await headOf(deps, visit)
  const team = await listTeam(read, head.id)
  const invited = await listInvitations(read, head.id, visit.now)
  const view = {
    head,
    faults,
    mayChange: visit.may('operator.write'),
    roles: memberRoles.map((role) => ({ value: role, label: `${role}: ${roleWords[role]}` })),
    invited: invited.map(({ email, role, expiresAt }) => ({ email, role, expiresAt })),
    rows: team.map(({ personId, name, email, role, isDisabled, hasSecondFactor, lastLoginAt }) => ({
      id: personId,
      name,
      email,
      role,
      isDisabled,
      hasSecondFactor,
      lastLoginAt,
    })),
  }
  return page('operator/account-people', view, { title: `People of ${head.name}` })
}
