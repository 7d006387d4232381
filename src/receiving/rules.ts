import { checkAdding, type Plans, readBilling, refuseBeyondCeiling } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import { checkedName } from '../domains/index.js'
import { ApiError } from '../errors/index.js'
import { parseMailbox } from '../mime/index.js'
import { prepared, type Read, type ReceivingRuleRow, type Store, type Tx } from '../store/index.js'
import {
  isCovered,
  patternIn,
  type ReceivingAction,
  type ReceivingRule,
  writtenPattern,
} from './rule.js'

/** What changing rules needs. */
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
  /** Counted from 1. By default it is before the first rule that would take its mail, or else the last place. */
  place?: number | null | undefined
}

/** The account's rules in their order. */
export async function listRules(
  read: Read,
  accountId: string,
  plans?: Plans,
): Promise<ReceivingRule[]> {
  const rows = await rowsOf(read, accountId)
  const tells = rows.some(({ action }) => action === 'webhook')
  const isTold =
    plans === undefined || !tells || (await readBilling(read, plans, accountId)).plan.webhooks
  return rows.map((row, index) => toRule(row, index, noteOf(row, rows.slice(0, index), isTold)))
}

/** Said of a rule that tells webhooks where the plan has none. */
export const noWebhooks = 'No webhook is told: the plan has none'

/** What keeps a rule from doing what it says. */
function noteOf(row: RuleRow, before: readonly RuleRow[], isTold: boolean): string | null {
  const { domain_name: name, receiving_host: host, status } = row
  if (host === null) return `Not in force: ${name} receives no mail`
  if (status !== 'verified') return `Not in force: ${name} is not verified`
  const first = before.findIndex((one) => isBefore(one, row))
  if (first !== -1) return `Never reached: rule ${first + 1} takes its mail first`
  return row.action === 'webhook' && !isTold ? noWebhooks : null
}

/** Whether that rule leaves nothing for a later one. */
const isBefore = (
  one: Pick<ReceivingRuleRow, 'enabled' | 'domain_id' | 'kind' | 'local'>,
  row: Pick<ReceivingRuleRow, 'domain_id' | 'kind' | 'local'>,
): boolean => one.enabled === 1 && one.domain_id === row.domain_id && isCovered(row, one)

/** Throws a 404. */
export async function findRule(
  read: Read,
  accountId: string,
  id: string,
  plans?: Plans,
): Promise<ReceivingRule> {
  const found = (await listRules(read, accountId, plans)).find((rule) => rule.id === id)
  if (found === undefined) throw noRule()
  return found
}

/** Adds a rule. Throws a 422 for a wrong one, and a 403 for one too many. */
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
    const first = others.findIndex((one) => isBefore(one, row) && !isCovered(one, row))
    const place = given.place ?? (first === -1 ? others.length : first) + 1
    await order(tx, others, row, place)
    const added = await findRule(tx, accountId, id, plans)
    await alongside(tx, added)
    return added
  })
}

/** Another rule that a change has moved. */
export interface MovedRule {
  id: string
  pattern: string
  place: number
  was: number
}

/** Changes what is given of a rule, and says which other rules have moved. Throws a 404, or a 422. */
export async function changeRule(
  { store, plans }: Pick<RuleDeps, 'store'> & { plans?: Plans },
  accountId: string,
  id: string,
  changes: { [K in keyof NewRule]?: NewRule[K] | null | undefined },
): Promise<{ rule: ReceivingRule; moved: MovedRule[] }> {
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
    const rules = await listRules(tx, accountId, plans)
    const rule = rules.find((one) => one.id === id)
    if (rule === undefined) throw noRule()
    const moved = rules.flatMap((one) => {
      const was = rows.findIndex((before) => before.id === one.id) + 1
      const { id, pattern, place } = one
      return one === rule || was === place ? [] : [{ id, pattern, place, was }]
    })
    return { rule, moved }
  })
}

/** Deletes a rule; resolves with what it was. Throws a 404. */
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

/** Moves a rule to a place among the others, and renumbers those that have moved. */
async function order(
  tx: Tx,
  others: readonly RuleRow[],
  rule: Pick<ReceivingRuleRow, 'id' | 'place'>,
  at: number,
): Promise<void> {
  const all: Pick<RuleRow, 'id' | 'place'>[] = others.toSpliced(0, 0)
  all.splice(Math.max(at - 1, 0), 0, rule)
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

/** The columns of a rule's action; a 422 for an address to which mail cannot be forwarded. */
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
  if (forwardTo === null) {
    throw wrong('forwardTo', 'A rule that forwards needs an address to forward to')
  }
  const mailbox = parseMailbox(forwardTo)
  if (mailbox === undefined) {
    const given = JSON.stringify(forwardTo.slice(0, 320))
    throw wrong('forwardTo', `${given} is no address that mail can be sent on to`)
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

type RuleRow = ReceivingRuleRow & {
  host: string
  domain_name: string
  receiving_host: string | null
  status: string
}

/** Where an account's domains receive, or will receive once they are verified. */
export const domainsReceiving = prepared<{ accountId: string }, { host: string; name: string }>(
  (db, { accountId }) =>
    db
      .selectFrom('domains')
      .select((eb) => [eb.ref('receiving_host').$notNull().as('host'), 'name'])
      .where('account_id', '=', accountId)
      .where('receiving_host', 'is not', null),
)

/** Reads the index of the account; there are few rules. */
const rowsOf = (read: Read, accountId: string): Promise<RuleRow[]> =>
  read
    .selectFrom('receiving_rules')
    .innerJoin('domains', 'domains.id', 'receiving_rules.domain_id')
    .selectAll('receiving_rules')
    .select(['domains.name as domain_name', 'domains.receiving_host', 'domains.status'])
    // If the domain no longer receives, the rule waits for its host.
    .select(({ fn }) => fn.coalesce('domains.receiving_host', 'domains.name').as('host'))
    .where('receiving_rules.account_id', '=', accountId)
    .orderBy('receiving_rules.place')
    .orderBy('receiving_rules.id')
    .execute()

const toRule = (row: RuleRow, index: number, note: string | null): ReceivingRule => ({
  id: row.id,
  accountId: row.account_id,
  domainId: row.domain_id,
  pattern: writtenPattern(row),
  place: index + 1,
  action: row.action,
  forwardTo: row.forward_to,
  enabled: row.enabled === 1,
  note,
  createdAt: row.created_at,
})
