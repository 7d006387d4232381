import type { EgressRow, Read, Tx } from '../../store/index.js'
import { type Breaker, unbroken } from './breaker.js'
import type { UnreachedSite } from './evidence.js'

/** The operator's word on a scope; without one the evidence decides. */
export type Orders = EgressRow['orders']

/** A scope as all threads know it. */
export interface Scope extends Breaker {
  /** A site's key, or `everything`. */
  readonly scope: string
  readonly orders: Orders
  /** The number of the node whose way out it is; 0: the operator has ordered it for all nodes. */
  readonly node: number
  /** The account whose mail a server refused because of our address. */
  readonly account_id: string | null
}

/** The scope of all mail. Not a host name, so no site has it as its key. */
export const everything = '*'

/** The node number of the rows with the operator's word, which is for all nodes. */
const ofNoNode = 0

/** All scopes of one node that are not as usual: what the node has seen, and the operator's word. */
export async function readScopes(read: Read, node: number): Promise<Scope[]> {
  return await read
    .selectFrom('egress')
    .selectAll()
    .where('node', 'in', [ofNoNode, node])
    .orderBy('scope')
    .orderBy('node')
    .execute()
}

/** A scope as people see it: the operator's word on it, and what the nodes have seen. */
export interface ShownScope extends Scope {
  /** The numbers of the nodes whose mail goes by the smart hosts on evidence. */
  nodes: readonly number[]
}

/**
 * All scopes that are not as usual, each once: in the state of the node whose mail has gone another way for the
 * longest time.
 */
export async function readAllScopes(read: Read): Promise<ShownScope[]> {
  const rows = await read
    .selectFrom('egress')
    .selectAll()
    .orderBy('scope')
    .orderBy('node')
    .execute()
  const byScope = new Map<string, [Scope, ...Scope[]]>()
  for (const row of rows) {
    const known = byScope.get(row.scope)
    if (known === undefined) byScope.set(row.scope, [row])
    else known.push(row)
  }
  return [...byScope.values()].map((of) => {
    const broken = of.filter(({ way }) => way === 'failover').sort((a, b) => a.since - b.since)
    const orders = of.find((one) => one.orders !== 'auto')?.orders ?? 'auto'
    const [first] = of
    return { ...(broken[0] ?? first), orders, nodes: broken.map(({ node }) => node) }
  })
}

/** No row means the usual state: the direct way, decided by evidence. */
export async function readScope(read: Read, scope: string, node: number): Promise<Scope> {
  const row = await read
    .selectFrom('egress')
    .selectAll()
    .where('scope', '=', scope)
    .where('node', '=', node)
    .executeTakeFirst()
  return row ?? { ...unbroken, scope, node, orders: 'auto', account_id: null }
}

/** A scope and node have one row; only its newest state counts. */
export async function saveScope(tx: Tx, row: Scope): Promise<void> {
  const { scope, node, ...values } = row
  await tx
    .insertInto('egress')
    .values({ scope, node, ...values })
    .onConflict((conflict) => conflict.columns(['scope', 'node']).doUpdateSet(values))
    .execute()
}

/** The operator's word: outbound threads obey it within seconds. */
export async function orderScope(
  tx: Tx,
  scope: string,
  orders: Orders,
  now: number,
): Promise<void> {
  const before = await readScope(tx, scope, ofNoNode)
  const since = before.orders === orders ? before.since : now
  await saveScope(tx, { ...before, orders, since })
}

/**
 * The operator leaves one scope, or all, to the evidence again. What is known of the past is forgotten: mail goes the
 * primary way until there is new evidence. Returns the scopes that were changed.
 */
export async function leaveToEvidence(tx: Tx, scope?: string): Promise<Scope[]> {
  const forgotten = await tx
    .deleteFrom('egress')
    .$if(scope !== undefined, (query) => query.where('scope', '=', scope ?? ''))
    .returningAll()
    .execute()
  if (scope === undefined) await tx.deleteFrom('egress_unreached').execute()
  return forgotten
}

/** Sites that have been on the primary way for long have nothing to remember. */
export async function forgetOldScopes(tx: Tx, before: number): Promise<void> {
  await tx
    .deleteFrom('egress')
    .where('way', '=', 'primary')
    .where('orders', '=', 'auto')
    .where('since', '<', before)
    .execute()
}

/** Sites that gave no connection since any site last gave one. */
export interface Unreached {
  readonly sites: number
  /** How many accounts' mail it was. */
  readonly accounts: number
  /** When the first of them failed; 0 when there is none. */
  readonly firstAt: number
}

/**
 * Counts distinct sites within the window: many failures of one site are that site's affair, failures of many sites
 * are ours.
 */
export async function readUnreached(
  read: Read,
  { since, now, node }: { since: number; now: number; node: number },
): Promise<Unreached> {
  const { firstAt, ...found } = await read
    .selectFrom('egress_unreached')
    .select(({ fn }) => [
      fn.count<number>('site').distinct().as('sites'),
      fn.count<number>('account_id').distinct().as('accounts'),
      fn.min('at').as('firstAt'),
    ])
    .where('node', '=', node)
    .where('at', '>=', since)
    .where('at', '<=', now)
    .executeTakeFirstOrThrow()
  return { ...found, firstAt: firstAt ?? 0 }
}

/**
 * A site is noted once for each account, and each write deletes old notes, so the table never has more rows than a
 * decision needs.
 */
export async function noteUnreached(
  tx: Tx,
  sites: readonly UnreachedSite[],
  { now, since, node }: { now: number; since: number; node: number },
): Promise<void> {
  await tx
    .deleteFrom('egress_unreached')
    .where(({ eb, or }) => or([eb('at', '<', since), eb('at', '>', now)]))
    .execute()
  for (const { site, accountId } of sites) {
    await tx
      .insertInto('egress_unreached')
      .values({ node, site, account_id: accountId, at: now })
      .onConflict((conflict) => conflict.columns(['node', 'site', 'account_id']).doNothing())
      .execute()
  }
}

/** Some site gave a connection: earlier failures say nothing about our way out. */
export async function forgetUnreached(
  tx: Tx,
  { node, until }: { node: number; until: number },
): Promise<void> {
  await tx
    .deleteFrom('egress_unreached')
    .where('node', '=', node)
    .where('at', '<=', until)
    .execute()
}
