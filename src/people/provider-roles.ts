import { findAccount } from '../accounts/index.js'
import { type Actor, noteAudit } from '../audit/index.js'
import type { GivenRole } from '../config/index.js'
import { ApiError, OperatorError } from '../errors/index.js'
import type { Tx, UserRow } from '../store/index.js'
import { type MemberRole, memberRoles } from './actions.js'
import { changeOperator } from './manage.js'
import { removeMember, roleIn, setRole } from './membership.js'
import { personOf } from './person.js'

/** The roles that a claim gives: in accounts, by id, and as an operator, by null. */
export type WantedRoles = ReadonlyMap<string | null, MemberRole | 'operator'>

/** The roles that these values give; the mightiest of several in one account. An unknown account gives none. */
export async function wantedRoles(
  tx: Tx,
  known: readonly GivenRole[],
  values: readonly string[],
): Promise<WantedRoles> {
  const wanted = new Map<string | null, MemberRole | 'operator'>()
  for (const { value, account, role } of known) {
    if (!values.includes(value)) continue
    if (role === 'operator' || account === undefined) wanted.set(null, 'operator')
    else {
      const id = await accountNamed(tx, account)
      if (id === undefined) continue
      const before = memberRoles.find((one) => one === wanted.get(id))
      wanted.set(id, before === undefined ? role : mightier(before, role))
    }
  }
  return wanted
}

/** The roles are ordered by their rights, the mightiest first. */
const mightier = (one: MemberRole, other: MemberRole): MemberRole =>
  memberRoles.find((role) => role === one || role === other) ?? one

/** The id of an account, found by its id or name; undefined if there is none. */
async function accountNamed(tx: Tx, name: string): Promise<string | undefined> {
  try {
    return (await findAccount(tx, name)).id
  } catch (error) {
    if (error instanceof OperatorError) return undefined
    throw error
  }
}

/** The roles that a claim gave somebody, by the account's id or `operator`. */
type GivenByClaim = Record<string, string>

/**
 * Gives somebody the roles of their claim, and removes roles that it gave before and no longer names. Roles given by
 * hand stay, and so do the last owner of an account and the last operator. Returns the roles that now come from the
 * claim.
 */
export async function giveRoles(
  tx: Tx,
  user: UserRow,
  claim: {
    issuer: string
    subject: string
    roles: WantedRoles
    known: readonly GivenRole[]
    actor: Actor
    now: number
  },
): Promise<GivenByClaim> {
  const { issuer, subject, roles, known, actor, now } = claim
  const before = await givenBefore(tx, issuer, subject)
  if (known.length === 0) return before
  const given: GivenByClaim = {}
  const note = async (accountId: string | null, role: string) => {
    const change = { actor, accountId, action: 'provider.role', target: user.email }
    await noteAudit(tx, { ...change, detail: { role }, at: now })
  }
  const isOperator = user.operator === 1
  const wasGiven = isOperator && before.operator !== undefined
  if (roles.has(null) ? !isOperator : wasGiven) {
    const done = await unlessLast(tx, (tx) => changeOperator(tx, user, !isOperator))
    if (done) await note(null, isOperator ? 'none' : 'operator')
    // Somebody who stays an operator only as the last one loses the role once there is another.
    if (!(done && isOperator)) given.operator = 'operator'
  } else if (wasGiven) given.operator = 'operator'
  const accounts = new Set([...Object.keys(before), ...roles.keys()])
  for (const accountId of accounts) {
    if (accountId === null || accountId === 'operator') continue
    // Looked up as a member, since an operator could look in without being one.
    const member = { ...personOf(user), isOperator: false }
    const role = (await roleIn(tx, member, accountId))?.role
    const has = memberRoles.find((one) => one === role)
    const wanted = memberRoles.find((one) => one === roles.get(accountId))
    const isOfClaim = has === undefined || has === before[accountId]
    const isMore = wanted !== undefined && has !== undefined && mightier(wanted, has) !== has
    if (!isOfClaim && !isMore) continue
    if (wanted !== undefined) given[accountId] = wanted
    if (wanted === has) continue
    const change = (tx: Tx) =>
      wanted === undefined
        ? removeMember(tx, accountId, user.id)
        : setRole(tx, accountId, user.id, wanted, now)
    if (await unlessLast(tx, change)) await note(accountId, wanted ?? 'none')
    else if (has !== undefined) given[accountId] = has
  }
  return given
}

async function givenBefore(tx: Tx, issuer: string, subject: string): Promise<GivenByClaim> {
  const row = await tx
    .selectFrom('identities')
    .select('roles')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row === undefined ? {} : (JSON.parse(row.roles) as GivenByClaim)
}

/** Whether it was done: the last one stays, which must not prevent the log-in. */
async function unlessLast(tx: Tx, change: (tx: Tx) => Promise<void>): Promise<boolean> {
  try {
    await change(tx)
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 'conflict') return false
    throw error
  }
}
