import { shownCount } from '../../amounts/index.js'
import type { Read, Tx } from '../../store/index.js'
import { grant, rampInWords, rampLimit, type SourceState } from './ramp.js'
import { reasonOf, type WaitReason } from './wait-reason.js'
import type { Ration, RationRequest } from './warm-up.js'

/**
 * Takes part of the day's ration of a source for one thread. The row is the only counter, so that all threads
 * together, before and after a restart, never exceed it. What a thread was granted and had not used when it died is
 * lost, which is the safe side. `reserve`: so many transactional mails may pass the day's limit.
 */
export async function claimRation(
  tx: Tx,
  address: string,
  request: RationRequest,
  reserve = 0,
): Promise<Ration> {
  const before = await readSource(tx, address)
  const { state, granted } = grant(before, { ...request, reserve })
  const isSetBack = before !== undefined && state.lastDay < before.lastDay
  if (granted > 0 || isSetBack) await saveSource(tx, address, state)
  const { rampDay } = state
  const limit = rampLimit(rampDay)
  return { messages: granted, limited: Number.isFinite(limit), reason: usedReason(rampDay) }
}

/** Why mail waits once the day's ration of the warm-up is used up. */
export const usedReason = (rampDay: number): WaitReason =>
  reasonOf(
    `${rampInWords(rampDay)}, whose ${shownCount(rampLimit(rampDay))} mails are used`,
    'outbound.warm_up',
  )

/** How far an address's warm-up has come; undefined for one that has sent nothing yet. */
export async function readSource(
  read: Read | Tx,
  address: string,
): Promise<SourceState | undefined> {
  const row = await read
    .selectFrom('sources')
    .selectAll()
    .where('address', '=', address)
    .executeTakeFirst()
  return row && stateOf(row)
}

/** All addresses that have sent, with their warm-up. */
export async function listSources(read: Read): Promise<(SourceState & { address: string })[]> {
  const rows = await read.selectFrom('sources').selectAll().orderBy('address').execute()
  return rows.map((row) => ({ address: row.address, ...stateOf(row) }))
}

/** Forgets all that was learned about addresses and sites: in a sandbox nobody outside has seen mail from them. */
export async function forgetSources(tx: Tx): Promise<void> {
  await tx.deleteFrom('sources').execute()
  await tx.deleteFrom('site_states').execute()
}

/**
 * When an appliance becomes the first of several nodes, that node takes over what was learned: mail without an
 * address of its own then counts by the node's name.
 */
export async function nameUnnamed(tx: Tx, name: string): Promise<void> {
  const alone = 'default'
  if (name === alone || (await readSource(tx, name)) !== undefined) return
  await tx.updateTable('sources').set({ address: name }).where('address', '=', alone).execute()
  const { count } = tx.fn
  const known = await tx
    .selectFrom('site_states')
    .select(count<number>('site').as('n'))
    .where('source', '=', name)
    .executeTakeFirstOrThrow()
  if (known.n > 0) return
  await tx.updateTable('site_states').set({ source: name }).where('source', '=', alone).execute()
}

/** Writes an address's warm-up down. */
export async function saveSource(tx: Tx, address: string, state: SourceState): Promise<void> {
  const { firstDay: first_day, lastDay: last_day, rampDay: ramp_day, sent } = state
  const values = { first_day, last_day, ramp_day, sent }
  await tx
    .insertInto('sources')
    .values({ address, ...values })
    .onConflict((conflict) => conflict.column('address').doUpdateSet(values))
    .execute()
}

/** A row as the ramp reads it. */
const stateOf = (row: { first_day: number; last_day: number; ramp_day: number; sent: number }) => ({
  firstDay: row.first_day,
  lastDay: row.last_day,
  rampDay: row.ramp_day,
  sent: row.sent,
})
