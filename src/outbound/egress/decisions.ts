import { pageOfAccounts } from '../../accounts/index.js'
import { dayMs } from '../../clock/index.js'
import type { Tx } from '../../store/index.js'
import { type Breaker, type ProbeOutcome, probed, trip } from './breaker.js'
import type { RefusedSite, UnreachedSite } from './evidence.js'
import {
  everything,
  forgetOldScopes,
  forgetUnreached,
  noteUnreached,
  readScope,
  readScopes,
  readUnreached,
  type Scope,
  saveScope,
} from './scopes.js'

/* How evidence changes the scopes, each time in one transaction. All resolve with the scopes that changed their way. */

// For so long after the first failure nothing is decided: failures within one moment may come from one cable, and
// other threads need time to say that they reached a server.
const soberingMs = 10_000
// How long a scope is remembered after its return, to see a relapse.
const keptMs = dayMs

/**
 * Notes sites that this thread could not reach. Together with those of the other threads, enough of them move all
 * mail. They must be of several accounts, where there are several: one account that mails dead domains says nothing
 * about our way out.
 */
export async function tripOnUnreached(
  tx: Tx,
  unreached: readonly UnreachedSite[],
  { now, sites, windowMs, node }: { now: number; sites: number; windowMs: number; node: number },
): Promise<Scope[]> {
  const since = now - windowMs
  if (unreached.length > 0) await noteUnreached(tx, unreached, { now, since, node })
  const found = await readUnreached(tx, { since, now, node })
  const isSober = now - found.firstAt >= soberingMs
  if (found.sites < sites || !isSober || !(await areEnough(tx, found.accounts))) return []
  const why = `${found.sites} sites in a row gave no connection, and none did`
  return await tripAll(tx, { now, node }, { cause: 'unreached', why })
}

/** True with two accounts, where there are two or more: what only one of several has met is its own affair. */
async function areEnough(tx: Tx, accounts: number): Promise<boolean> {
  return accounts >= (await pageOfAccounts(tx, { limit: 2 })).length
}

/**
 * A site refuses our address: its mail moves, and all mail when enough sites do so. They must be of several accounts
 * too: anybody may have domains whose servers answer with the words of a blocklist.
 */
export async function tripOnRefusal(
  tx: Tx,
  { site, reply, accountId, until }: RefusedSite,
  { now, sites, node }: { now: number; sites: number; node: number },
): Promise<Scope[]> {
  const why = `the receiver answered: ${reply.replace(/\s+/g, ' ').slice(0, 200)}`
  const changes = await change(tx, { scope: site, node }, (before) => ({
    ...trip(before, { cause: 'refused', why, until }, now),
    account_id: accountId,
  }))
  await forgetOldScopes(tx, now - keptMs)
  const others = (await readScopes(tx, node)).filter(
    ({ scope, way, cause }) => scope !== everything && way === 'failover' && cause === 'refused',
  )
  const accounts = new Set(others.map(({ account_id }) => account_id)).size
  if (others.length < sites || !(await areEnough(tx, accounts))) return changes
  const all = `${others.length} sites refuse our address; the last one, ${site}: ${why}`
  return [...changes, ...(await tripAll(tx, { now, node }, { cause: 'refused', why: all, until }))]
}

/** Counts what a probe has shown, for each scope that it was for. */
export async function countProbe(
  tx: Tx,
  scopes: readonly string[],
  outcome: ProbeOutcome,
  { now, node }: { now: number; node: number },
): Promise<Scope[]> {
  const all: Scope[] = []
  for (const scope of scopes) {
    all.push(...(await change(tx, { scope, node }, (before) => probed(before, outcome, now))))
  }
  return all
}

/**
 * The evidence is forgotten with the decision, or the same failures would trip the breaker again right after it
 * closed.
 */
async function tripAll(
  tx: Tx,
  { now, node }: { now: number; node: number },
  evidence: Parameters<typeof trip>[1],
) {
  await forgetUnreached(tx, { node, until: now })
  return await change(tx, { scope: everything, node }, (before) => trip(before, evidence, now))
}

/**
 * Read and written in one transaction: several threads see the same incident at once, and only the first is to
 * announce it.
 */
async function change(
  tx: Tx,
  { scope, node }: { scope: string; node: number },
  next: (before: Breaker) => Breaker & Partial<Pick<Scope, 'account_id'>>,
): Promise<Scope[]> {
  const before = await readScope(tx, scope, node)
  const after = next(before)
  if (after === before) return []
  await saveScope(tx, { ...before, ...after })
  return before.way === after.way ? [] : [{ ...before, ...after }]
}
