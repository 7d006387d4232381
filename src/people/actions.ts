/** A person's role in an account. `operator`: looks into an account without being a member. */
export type Role = (typeof roles)[number]

export const roles = ['owner', 'member', 'viewer', 'operator'] as const

/** The roles that a membership can have, the mightiest first. */
export type MemberRole = Exclude<Role, 'operator'>

export const memberRoles = ['owner', 'member', 'viewer'] as const satisfies readonly MemberRole[]

const everybody = ['owner', 'member', 'viewer', 'operator'] as const
const members = ['owner', 'member', 'operator'] as const
const workers = ['owner', 'member'] as const
const owners = ['owner'] as const
const management = ['owner', 'operator'] as const

/**
 * Who may do what: the one table that routes and views use. An operator only looks into an account, and
 * changes it by the operator's own pages and commands.
 */
const allowed = {
  'account.read': everybody,
  'emails.read': everybody,
  'emails.send': workers,
  'templates.read': everybody,
  'templates.write': workers,
  'suppression.read': everybody,
  'suppression.write': workers,
  'campaigns.read': everybody,
  'campaigns.write': workers,
  'campaigns.notice': owners,
  'contacts.read': everybody,
  'contacts.write': workers,
  'automations.read': everybody,
  'automations.write': workers,
  'domains.read': everybody,
  'domains.write': owners,
  // A viewer sees nothing that gives access: no keys, no endpoints with their secrets.
  'keys.read': members,
  'keys.write': owners,
  'webhooks.read': members,
  'webhooks.write': owners,
  'plan.read': everybody,
  'settings.read': everybody,
  'settings.write': owners,
  'team.read': management,
  'team.write': owners,
  'audit.read': management,
  'operator.read': ['operator'],
  'operator.write': ['operator'],
} as const satisfies Readonly<Record<string, readonly Role[]>>

export type Action = keyof typeof allowed

export const actions = Object.keys(allowed) as Action[]

export const may = (role: Role, action: Action): boolean =>
  (allowed[action] as readonly Role[]).includes(role)

/** A sentence about what each role can do, for whoever chooses one. */
export const roleWords: Readonly<Record<MemberRole, string>> = {
  owner: 'Everything, the team, the keys and the domains too',
  member: 'Sends mail, and changes templates and suppressed addresses',
  viewer: 'Only looks, and sees no keys and no webhooks',
}
