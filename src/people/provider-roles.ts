import { type Actor, noteAudit } from '../audit/index.js'
import type { GivenRole } from '../config/index.js'
import { ApiError } from '../errors/index.js'
import type { Tx, UserRow } from '../store/index.js'
import { type MemberRole, memberRoles } from './actions.js'
import { changeOperator } from './manage.js'
import { removeMember, roleIn, setRole } from './membership.js'
import { personOf } from './person.js'

/** What somebody is to be by their claim: in accounts, by id, and as an operator, by null. */
export type WantedRoles = ReadonlyMap<string | null, MemberRole | 'operator'>

/** The roles that these values give; of several in one account the one that may most. An account that is not there gives none. */
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

/** The roles are in the order of what they may, the mightiest first. */
const mightier = (one: MemberRole, other: MemberRole): MemberRole =>
  memberRoles.find((role) => role === one || role === other) ?? one

/** An account by its id, else by its name. */
async function accountNamed(tx: Tx, name: string): Promise<string | undefined> {
  const rows = await tx
    .selectFrom('accounts')
    .select('id')
    .where((eb) => eb.or([eb('id', '=', name), eb('name', '=', name)]))
    .limit(2)
    .execute()
  return rows.length === 1 ? rows[0]?.id : undefined
}

/**
 * Makes somebody what their claim says, in the accounts that the settings name, and nowhere else: who has the value no more
 * loses the role. The last owner of an account and the last operator stay what they are.
 */
export async function giveRoles(
  tx: Tx,
  user: UserRow,
  given: { roles: WantedRoles; known: readonly GivenRole[]; actor: Actor; now: number },
): Promise<void> {
  const { roles, known, actor, now } = given
  const note = async (accountId: string | null, role: string) => {
    const change = { actor, accountId, action: 'provider.role', target: user.email }
    await noteAudit(tx, { ...change, detail: { role }, at: now })
  }
  if (known.some(({ role }) => role === 'operator')) {
    const isOperator = roles.has(null)
    if (
      isOperator !== (user.operator === 1) &&
      (await unlessLast(changeOperator(tx, user, isOperator)))
    ) {
      await note(null, isOperator ? 'operator' : 'none')
    }
  }
  for (const name of new Set(known.flatMap(({ account }) => account ?? []))) {
    const accountId = await accountNamed(tx, name)
    if (accountId === undefined) continue
    // As a member: an operator who is none looks in all the same.
    const member = { ...personOf(user), isOperator: false }
    const before = (await roleIn(tx, member, accountId))?.role
    const role = memberRoles.find((one) => one === roles.get(accountId))
    if (before === role) continue
    const change =
      role === undefined
        ? removeMember(tx, accountId, user.id)
        : setRole(tx, accountId, user.id, role, now)
    if (await unlessLast(change)) await note(accountId, role ?? 'none')
  }
}

/** Whether it was done: the last one stays, which is no reason to let nobody in. */
async function unlessLast(change: Promise<void>): Promise<boolean> {
  try {
    await change
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 'conflict') return false
    throw error
  }
}
