import { type Clock, dayMs, hourMs, isRecent } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { CertificateOrderRow, CertificateRow, Read, Store } from '../store/index.js'
import { heldNames } from './held.js'
import type { WantedName } from './names.js'
import { leastFirstPerDay, ordersPerHour } from './schedule.js'

export const readRows = async (read: Read): Promise<Map<string, CertificateRow>> => {
  const rows = await read.selectFrom('certificates').selectAll().execute()
  return new Map(rows.map((row) => [row.name, row]))
}

/** Writes down how far a name has come; makes a row where there is none. */
export async function setRow(
  { write }: Pick<Store, 'write'>,
  name: string,
  values: Partial<Omit<CertificateRow, 'name'>>,
): Promise<void> {
  const fresh = { ...blankRow, name, ...values }
  await write((tx) =>
    tx
      .insertInto('certificates')
      .values(fresh)
      .onConflict((on) => on.column('name').doUpdateSet(values))
      .execute(),
  )
}

export const blankRow: Omit<CertificateRow, 'name'> = {
  failures: 0,
  failed_since: null,
  ordered_at: null,
  next_at: 0,
  renew_at: null,
  error: null,
  fix: null,
  order_url: null,
  order_key: null,
  sealed: null,
  hash: null,
}

export interface WantedCertificates {
  wanted: readonly WantedName[]
  rows: ReadonlyMap<string, CertificateRow>
  /** Names that have a certificate from ACME. */
  held: ReadonlySet<string>
  /** Orders of the last day, also for names that are no longer wanted. */
  orders: readonly CertificateOrderRow[]
}

/**
 * The state of the certificates: the wanted names, what is stored of each, and the orders of the
 * last day.
 */
export async function readStanding(
  { store: { read }, clock, dataDir }: { store: Store; clock: Clock; dataDir: string },
  wanted: readonly WantedName[],
): Promise<WantedCertificates> {
  const orders = await read
    .selectFrom('certificate_orders')
    .selectAll()
    .where('ordered_at', '>', clock.now() - dayMs)
    .where('ordered_at', '<', clock.now() + dayMs)
    .execute()
  return { wanted, rows: await readRows(read), held: new Set(heldNames(dataDir)), orders }
}

/** Counts an order against the limits below; orders from more than a day ago no longer count. */
export async function noteOrder(
  { write }: Pick<Store, 'write'>,
  order: CertificateOrderRow,
): Promise<void> {
  await write(async (tx) => {
    const at = order.ordered_at
    await tx
      .deleteFrom('certificate_orders')
      .where(({ eb, or }) =>
        or([eb('ordered_at', '<=', at - dayMs), eb('ordered_at', '>=', at + dayMs)]),
      )
      .execute()
    await tx
      .insertInto('certificate_orders')
      .values(order)
      .onConflict((on) => on.doNothing())
      .execute()
  })
}

/**
 * Names whose turn it is: the operator's own first, then those that have waited longest. Of names that need an order,
 * only as many as an hour, and each customer's day, may have.
 */
export function dueNames(
  { wanted, rows, held, orders }: WantedCertificates,
  { tls }: Pick<Config, 'tls'>,
  now: number,
): WantedName[] {
  const recent = orders.filter(({ ordered_at: at }) => isRecent(at, now, hourMs))
  const room = Math.max(0, ordersPerHour - recent.length)
  const spent = new Map<string, number>()
  const spend = (accountId: string) => {
    const count = (spent.get(accountId) ?? 0) + 1
    spent.set(accountId, count)
    return count
  }
  for (const { is_first, account_id } of orders) {
    if (is_first === 1 && account_id !== null) spend(account_id)
  }
  const mostFirst = Math.max(leastFirstPerDay, tls.trackingHostsPerAccount)
  const since = ({ name }: WantedName) => rows.get(name)?.next_at ?? 0
  const isOwn = ({ domain }: WantedName) => domain === undefined
  return wanted
    .filter(({ name, isOrdered }) => {
      if (!isOrdered) return false
      const row = rows.get(name)
      if (row === undefined || row.next_at <= now) return true
      // The name's file was removed, or a restore has brought the database without it.
      return !held.has(name) && row.renew_at !== null
    })
    .sort((one, two) => Number(isOwn(two)) - Number(isOwn(one)) || since(one) - since(two))
    .filter(({ name, accountId }) => {
      // A renewal, and the continuation of an order, are no new burden.
      const isFirst = !held.has(name) && rows.get(name)?.order_url == null
      return accountId === undefined || !isFirst || spend(accountId) <= mostFirst
    })
    .slice(0, room)
}

/** Names that nobody wants any more, but that still have rows or files. */
export function leftNames({ wanted, rows, held }: WantedCertificates): string[] {
  const still = new Set(wanted.map(({ name }) => name))
  return [...new Set([...rows.keys(), ...held])].filter((name) => !still.has(name))
}

/** Called after the clock was set back: looks now at what a clock that was ahead has put off. */
export async function certificatesAfterSetBack({
  store: { write },
  clock,
}: {
  store: Pick<Store, 'write'>
  clock: Clock
}): Promise<void> {
  await write(async (tx) => {
    const now = clock.now()
    await tx.updateTable('certificates').set({ next_at: now }).where('next_at', '>', now).execute()
    await tx.updateTable('acme_accounts').set({ next_at: now }).where('next_at', '>', now).execute()
  })
}
