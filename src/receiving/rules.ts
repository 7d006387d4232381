import { checkAdding, type Plans, readBilling, refuseBeyondCeiling } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import { checkedName } from '../domains/index.js'
import { ApiError } from '../errors/index.js'
import { parseMailbox } from '../mime/index.js'
import type { Read, ReceivingRuleRow, Store, Tx } from '../store/index.js'
import { patternIn, type ReceivingAction, type ReceivingRule, writtenPattern } from './rule.js'

/** What changing rules takes. */
export interface RuleDeps {
  store: Store
  clock: Clock
  plans: Plans
}

/** A rule as somebody gives it. */
export interface NewRule {
  pattern: string
  action: ReceivingAction
  forwardTo?: string | null | undefined
  enabled?: boolean | null | undefined
  /** Counted from 1; the last one where it is left out. */
  place?: number | null | undefined
}

/** The account's rules in their order. */
export async function listRules(read: Read, accountId: string): Promise<ReceivingRule[]> {
  return (await rowsOf(read, accountId)).map(toRule)
}

/** Throws a 404. */
export async function findRule(read: Read, accountId: string, id: string): Promise<ReceivingRule> {
  const found = (await listRules(read, accountId)).find((rule) => rule.id === id)
  if (found === undefined) throw noRule()
  return found
}

/** Adds a rule. Throws a 422 for one that is wrong, and a 403 for one too many. */
export async function addRule(
  { store, clock, plans }: RuleDeps,
  accountId: string,
  given: NewRule,
  alongside: (tx: Tx, rule: ReceivingRule) => Promise<void> = async () => {},
): Promise<ReceivingRule> {
  const id = store.ids.uuid()
  return await store.write(async (tx) => {
    checkAdding(await readBilling(tx, plans, accountId))
    await refuseBeyondCeiling(tx, plans, accountId, 'receivingRules')
    const row: ReceivingRuleRow = {
      id,
      account_id: accountId,
      ...(await placeOf(tx, accountId, given.pattern)),
      ...(await actionOf(tx, accountId, given.action, given.forwardTo ?? null)),
      place: 0,
      enabled: given.enabled === false ? 0 : 1,
      created_at: clock.now(),
    }
    const others = await rowsOf(tx, accountId)
    await tx.insertInto('receiving_rules').values(row).execute()
    await order(tx, others, row, given.place ?? others.length + 1)
    const added = await findRule(tx, accountId, id)
    await alongside(tx, added)
    return added
  })
}

/** Changes what is given of a rule. Throws a 404, or a 422. */
export async function changeRule(
  { store }: Pick<RuleDeps, 'store'>,
  accountId: string,
  id: string,
  changes: { [K in keyof NewRule]?: NewRule[K] | null | undefined },
): Promise<ReceivingRule> {
  return await store.write(async (tx) => {
    const rows = await rowsOf(tx, accountId)
    const row = rows.find((one) => one.id === id)
    if (row === undefined) throw noRule()
    const { pattern, action, forwardTo, enabled, place } = changes
    const forward = forwardTo ?? (action == null ? row.forward_to : null)
    const changed = {
      ...(pattern == null ? {} : await placeOf(tx, accountId, pattern)),
      ...(action == null && forwardTo == null
        ? {}
        : await actionOf(tx, accountId, action ?? row.action, forward)),
      enabled: enabled == null ? row.enabled : Number(enabled),
    }
    await tx.updateTable('receiving_rules').set(changed).where('id', '=', id).execute()
    if (place != null) {
      const others = rows.filter((one) => one !== row)
      await order(tx, others, row, place)
    }
    return await findRule(tx, accountId, id)
  })
}

/** Resolves with what it was. Throws a 404. */
export async function deleteRule(
  { store }: Pick<RuleDeps, 'store'>,
  accountId: string,
  id: string,
): Promise<ReceivingRule> {
  return await store.write(async (tx) => {
    const rule = await findRule(tx, accountId, id)
    await tx.deleteFrom('receiving_rules').where('id', '=', id).execute()
    return rule
  })
}

const noRule = () => new ApiError('not_found', 'The account has no receiving rule with this id')

/** Puts a rule at a place among the others, and numbers those that have moved. */
async function order(
  tx: Tx,
  others: readonly RuleRow[],
  rule: Pick<ReceivingRuleRow, 'id' | 'place'>,
  at: number,
): Promise<void> {
  const all = others.toSpliced(Math.max(at - 1, 0), 0, { ...rule, host: '' } as RuleRow)
  for (const [index, { id, place }] of all.entries()) {
    if (place === index + 1) continue
    await tx
      .updateTable('receiving_rules')
      .set({ place: index + 1 })
      .where('id', '=', id)
      .execute()
  }
}

/** The columns of a pattern; a 422 where the account does not receive at its host. */
async function placeOf(read: Read, accountId: string, given: string) {
  const { kind, local, host } = patternIn(given, (name) => checkedName(name))
  const domain = await read
    .selectFrom('domains')
    .select('id')
    .where('receiving_host', '=', host)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  if (domain !== undefined) return { kind, local, domain_id: domain.id }
  throw wrong(
    'pattern',
    `The account does not receive at ${host}: set the receiving host of its domain first`,
  )
}

/** The columns of what a rule does; a 422 for an address that mail cannot be sent on to. */
async function actionOf(
  read: Read,
  accountId: string,
  action: ReceivingAction,
  forwardTo: string | null,
) {
  if (action !== 'forward') {
    if (forwardTo !== null) throw wrong('forwardTo', 'Only a rule that forwards has an address')
    return { action, forward_to: null }
  }
  const mailbox = forwardTo === null ? undefined : parseMailbox(forwardTo)
  if (mailbox === undefined) {
    throw wrong('forwardTo', 'A rule that forwards needs an address to forward to')
  }
  const own = await read
    .selectFrom('domains')
    .select('id')
    .where('receiving_host', '=', mailbox.domain)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  if (own !== undefined) {
    throw wrong(
      'forwardTo',
      `Mail to ${mailbox.domain} comes in here: it would go round in circles`,
    )
  }
  return { action, forward_to: mailbox.address }
}

const wrong = (field: string, message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field } })

type RuleRow = ReceivingRuleRow & { host: string }

/** By the index of the account; there are few of them. */
const rowsOf = (read: Read, accountId: string): Promise<RuleRow[]> =>
  read
    .selectFrom('receiving_rules')
    .innerJoin('domains', 'domains.id', 'receiving_rules.domain_id')
    .selectAll('receiving_rules')
    // Where the domain has ended receiving, the rule waits for its host.
    .select(({ fn }) => fn.coalesce('domains.receiving_host', 'domains.name').as('host'))
    .where('receiving_rules.account_id', '=', accountId)
    .orderBy('receiving_rules.place')
    .orderBy('receiving_rules.id')
    .execute()

const toRule = (row: RuleRow, index: number): ReceivingRule => ({
  id: row.id,
  accountId: row.account_id,
  domainId: row.domain_id,
  pattern: writtenPattern(row),
  place: index + 1,
  action: row.action,
  forwardTo: row.forward_to,
  enabled: row.enabled === 1,
  createdAt: row.created_at,
})
