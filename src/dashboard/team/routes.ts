import { enums, string, type } from 'superstruct'
import { ApiError } from '../../errors/index.js'
import {
  findPerson,
  invite,
  inviterOf,
  listInvitations,
  listTeam,
  type MemberRole,
  memberRoles,
  type PeopleDeps,
  removeMember,
  revokeInvitation,
  roleWords,
  setRole,
} from '../../people/index.js'
import { ownUrl } from '../own-url.js'
import { page, redirect } from '../shell/answer.js'
import { noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'

/** What the pages about an account's people need. */
export interface TeamDeps {
  people: Pick<PeopleDeps, 'store' | 'clock' | 'invitationMails'>
  /** Mail goes to the built-in inbox, which everybody at this listener reads: no link that lets somebody in goes there. */
  sandbox: boolean
  /**
   * The names by which this listener is known (`http.private.allowed_hosts`). What is mailed leads to one of them
   * alone.
   */
  hostNames: readonly string[]
  /** Mails an invitation, if this appliance can mail at all; resolves with whether it leaves. */
  sendNotice(mail: { to: string; subject: string; text: string }): Promise<boolean>
}

const InviteForm = type({ email: string(), role: enums(memberRoles) })
const RoleForm = type({ role: enums(memberRoles) })

const roleOptions = memberRoles.map((role) => ({ value: role, label: role, hint: roleWords[role] }))

/** Who is in an account: invited, given a role, and taken out. */
export function teamPages(pages: AccountPages, deps: TeamDeps): void {
  const { people } = deps
  const { store, clock } = people
  const show = (visit: Visit, faults = noFaults) => team(deps, visit, faults)

  pages.get('/team', 'team.read', (visit) => show(visit))

  const post = { action: 'team.write', sudo: true, again: show } as const
  pages.post('/team/invite', { ...post, form: InviteForm }, async (visit) => {
    const { account, form, person, request, base } = visit
    const given = { accountId: account.id, ...form, inviter: inviterOf(person) }
    // Two links: the mailed one proves the address of whoever opens it, the shown one does not.
    const { path, mailPath } = await invite(people, given)
    const host = request.header('host') ?? ''
    const origin = ownUrl(request)
    const mail = invitationMail({
      to: form.email.trim(),
      from: given.inviter.name,
      account: account.name,
      role: form.role,
      url: origin + mailPath,
      host,
    })
    // The inviter chooses the Host of the request: the mail's link would hand its proof to a server of theirs.
    const isNamed = deps.hostNames.includes(host.toLowerCase().replace(/:\d+$/, ''))
    const mayMail = !deps.sandbox && isNamed
    // Each mail to a stranger costs our reputation: only so many invitations are mailed, and beyond
    // that the link is handed over by hand.
    const isOften = mayMail && !people.invitationMails.take(account.id, form.email)
    const isMailed = mayMail && !isOften && (await deps.sendNotice(mail))
    const view = {
      url: origin + path,
      isMailed,
      isOften,
      isNamed,
      sandbox: deps.sandbox,
      email: form.email.trim(),
      back: `${base}/team`,
    }
    const audit = { action: 'team.invite', target: form.email.trim(), detail: { role: form.role } }
    return page('team/invited', view, { title: 'The invitation', audit })
  })

  pages.post('/team/invitations/:id/revoke', post, async ({ account, params, base }) => {
    const { email } = await revokeInvitation(people, account.id, params.id ?? '')
    const audit = { action: 'team.revoke', target: email }
    return redirect(`${base}/team`, { flash: `The invitation of ${email} is withdrawn`, audit })
  })

  pages.post('/team/:person/role', { ...post, form: RoleForm }, async (visit) => {
    const { account, params, form, base } = visit
    const user = await member(deps, account.id, params.person ?? '')
    const { role } = form
    await store.write((tx) => setRole(tx, account.id, user.id, role, clock.now()))
    const audit = { action: 'team.role', target: user.email, detail: { role } }
    return redirect(`${base}/team`, { flash: `${user.name} is now ${role}`, audit })
  })

  pages.post('/team/:person/remove', post, async ({ account, params, base, person }) => {
    const user = await member(deps, account.id, params.person ?? '')
    await store.write((tx) => removeMember(tx, account.id, user.id))
    const audit = { action: 'team.remove', target: user.email }
    const flash = `${user.name} is no longer in ${account.name}`
    // Who has taken themselves out may not see the account any more.
    return redirect(user.id === person.id ? '/me' : `${base}/team`, { flash, audit })
  })
}

/**
 * The members and the invitations that are open. The last owner can be neither taken out nor given
 * another role, which the page says beforehand.
 */
async function team({ people, sandbox }: TeamDeps, visit: Visit, faults = noFaults) {
  const { account, now, person, may, base } = visit
  const { read } = people.store
  const members = await listTeam(read, account.id)
  const invitations = await listInvitations(read, account.id, now)
  const owners = members.filter(({ role, isDisabled }) => role === 'owner' && !isDisabled).length
  const view = {
    faults,
    now,
    base,
    account: account.name,
    mayWrite: may('team.write'),
    roleOptions,
    sandbox,
    members: members.map((one) => ({
      ...one,
      isYou: one.personId === person.id,
      isLastOwner: one.role === 'owner' && !one.isDisabled && owners === 1,
    })),
    invitations,
  }
  return page('team/list', view, { title: 'Team' })
}

/** Somebody of this account, and not of another. Throws a 404. */
async function member({ people }: TeamDeps, accountId: string, personId: string) {
  const members = await listTeam(people.store.read, accountId)
  if (!members.some((one) => one.personId === personId)) {
    throw new ApiError('not_found', 'There is no such member')
  }
  return await findPerson(people.store.read, personId)
}

/**
 * The mail of an invitation. Nothing of its subject is written by the inviter: the mail leaves in
 * the appliance's own name, to any address that they type.
 */
const invitationMail = (of: {
  to: string
  from: string
  account: string
  role: MemberRole
  url: string
  host: string
}) => ({
  to: of.to,
  subject: `An invitation to ${of.host}`,
  text: [
    `${of.from} invites you to "${of.account}", as ${of.role}: ${roleWords[of.role]}.`,
    '',
    'Open this within 7 days to join. It shows that this address is yours, so give it to nobody:',
    of.url,
    '',
    'If you do not know why you got this, do nothing.',
  ].join('\n'),
})
