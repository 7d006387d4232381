import { sql } from 'kysely'
import { dayNumber } from '../clock/index.js'
import {
  cell,
  greatest,
  type ProtectionProviderRow,
  prepared,
  type Read,
  rowsOf,
  type Tx,
} from '../store/index.js'
import type { Counted } from './window.js'

/** The counts of a provider. */
export type ProviderTotals = Omit<ProtectionProviderRow, 'account_id' | 'day'>

/** A mailbox provider that is large enough to be counted by name. */
interface Provider {
  name: string
  /** The provider's MX hosts are these or lie below them; the recipient's domain does not matter. */
  mx: readonly string[]
  /** The provider's own domains, for mail without an MX: by a smart host, in the sandbox. */
  domains?: RegExp
}

const providers: readonly Provider[] = [
  {
    name: 'Google',
    mx: ['google.com', 'googlemail.com'],
    domains: /^(gmail|googlemail)\.com$/,
  },
  {
    name: 'Microsoft',
    mx: ['protection.outlook.com', 'mx.microsoft'],
    domains: /^(outlook|hotmail|live|msn)\.[a-z]{2,3}(\.[a-z]{2})?$/,
  },
  {
    name: 'Yahoo',
    mx: ['yahoodns.net'],
    domains: /^(yahoo|ymail|rocketmail|aol)\.[a-z]{2,3}(\.[a-z]{2})?$/,
  },
  { name: 'Apple', mx: ['icloud.com'], domains: /^(icloud|me|mac)\.com$/ },
  { name: 'GMX', mx: ['gmx.net', 'web.de'], domains: /^(gmx\.[a-z]{2,3}|web\.de)$/ },
  { name: 'Proton', mx: ['protonmail.ch'], domains: /^(proton\.me|protonmail\.com|pm\.me)$/ },
  { name: 'Mimecast', mx: ['mimecast.com', 'mimecast.co.za', 'mimecast-offshore.com'] },
]

/**
 * The mailbox provider of a recipient, by the MX that answered last (`host [address]`), else by the
 * domain; for all but the large ones, the domain itself.
 */
export function providerOf(recipient: string, remote: string | null): string {
  const domain = recipient.slice(recipient.lastIndexOf('@') + 1).toLowerCase()
  const found =
    (remote === null ? undefined : byHost(remote.split(' ', 1)[0] ?? '')) ??
    providers.find(({ domains }) => domains?.test(domain))
  return found?.name ?? domain
}

// Used for every mail that ends; comparing the names one by one took longer than SQLite.
const byMx = new Map(providers.flatMap((provider) => provider.mx.map((name) => [name, provider])))

/** The provider whose names include the host or a domain above it. */
function byHost(host: string): Provider | undefined {
  for (let name = host.toLowerCase(); ; ) {
    const found = byMx.get(name)
    const dot = name.indexOf('.')
    if (found !== undefined || dot < 0) return found
    name = name.slice(dot + 1)
  }
}

/** The provider for a metric's label: a large one, or `other`. */
export function largeProviderOf(recipient: string, remote: string | null): string {
  const provider = providerOf(recipient, remote)
  return names.has(provider) ? provider : 'other'
}

const names = new Set(providers.map(({ name }) => name))
// An account's day has about this many rows, however many domains it mails to; the rest share one.
const maxADay = 200
/** The name under which domains beyond the bound are counted. */
export const otherDomains = 'other domains'

/** Adds to the account's counts by provider, of the UTC day. */
export async function countByProvider(
  tx: Tx,
  accountId: string,
  counted: readonly [Counted, ...Counted[]],
): Promise<void> {
  const day = { account_id: accountId, day: dayNumber(counted[0].at) }
  const sums = new Map<string, ProviderTotals>()
  for (const one of counted) {
    const { provider } = one
    if (provider === undefined || one.recipients + one.bounces + one.complaints === 0) continue
    const sum = sums.get(provider) ?? noneOf(provider)
    if (typeof one.countedAt === 'number') {
      // As with hours: a recipient who is counted again today is no longer counted on the earlier
      // day.
      await takeFromDay(tx, { accountId, day: dayNumber(one.countedAt), provider })
    }
    addUp(sum, one)
    sums.set(provider, sum)
  }
  if (sums.size === 0) return
  const rows = [...sums.values()].map((sum) => [
    accountId,
    day.day,
    sum.provider,
    ...counts.map((one) => sum[one]),
  ])
  for (const { provider } of await addToKnown(tx, { rows: JSON.stringify(rows) })) {
    sums.delete(provider)
  }
  if (sums.size > 0) await addUnknown(tx, day, sums.values())
}

/** Providers without a row in the account's day get one while there is room. */
async function addUnknown(tx: Tx, day: Day, sums: Iterable<ProviderTotals>): Promise<void> {
  const others = noneOf(otherDomains)
  let room = maxADay - (await rowsAt(tx, day))
  for (const sum of sums) {
    if (room > 0 || names.has(sum.provider)) {
      await addRow(tx, { ...day, ...sum })
      room--
    } else addUp(others, sum)
  }
  if (others.recipients + others.bounces + others.complaints > 0) {
    await addRow(tx, { ...day, ...others })
  }
}

const counts = ['recipients', 'bounces', 'complaints'] as const

/** Zero counts for a provider. */
const noneOf = (provider: string): ProviderTotals => ({
  provider,
  recipients: 0,
  bounces: 0,
  complaints: 0,
})

/** Adds counts. */
function addUp(sum: ProviderTotals, added: Omit<ProviderTotals, 'provider'>): void {
  sum.recipients += added.recipients
  sum.bounces += added.bounces
  sum.complaints += added.complaints
}

/** An account's counts by provider since `from`; those with most recipients first. */
export async function readProviders(
  read: Read,
  accountId: string,
  { from, limit }: { from: number; limit: number },
): Promise<ProviderTotals[]> {
  return await read
    .selectFrom('protection_providers')
    .select(({ fn }) => [
      'provider',
      fn.sum<number>('recipients').as('recipients'),
      fn.sum<number>('bounces').as('bounces'),
      fn.sum<number>('complaints').as('complaints'),
    ])
    .where('account_id', '=', accountId)
    .where('day', '>', dayNumber(from))
    .groupBy('provider')
    .orderBy('recipients', 'desc')
    .orderBy('provider')
    .limit(limit)
    .execute()
}

/** An account's UTC day. */
type Day = Pick<ProtectionProviderRow, 'account_id' | 'day'>

// The rows have the whole key, so that each takes one search in one pass.
const addToKnown = prepared<{ rows: string }, { provider: string }>((db, { rows }) =>
  db
    .updateTable('protection_providers')
    .from(rowsOf(rows))
    .set({
      recipients: sql`recipients + ${cell(3, 'integer')}`,
      bounces: sql`bounces + ${cell(4, 'integer')}`,
      complaints: sql`complaints + ${cell(5, 'integer')}`,
    })
    .where('account_id', '=', cell(0, 'text'))
    .where('day', '=', cell(1, 'integer'))
    .where('provider', '=', cell(2, 'text'))
    .returning('provider'),
)

const takeFromDay = prepared<{ accountId: string; day: number; provider: string }, unknown>(
  (db, { accountId, day, provider }) =>
    db
      .updateTable('protection_providers')
      .set({ recipients: sql`recipients - 1` })
      .where('account_id', '=', accountId)
      .where('day', '=', day)
      .where('provider', '=', provider)
      .where('recipients', '>', greatest(sql.ref('bounces'), sql.ref('complaints'))),
)

/** How many providers the day already has. */
async function rowsAt(tx: Tx, day: Day): Promise<number> {
  const [row] = await countRows(tx, day)
  return row?.rows ?? 0
}

/** By the primary key's beginning. */
const countRows = prepared<Day, { rows: number }>((db, row) =>
  db
    .selectFrom('protection_providers')
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .where('account_id', '=', row.account_id)
    .where('day', '=', row.day),
)

/** Makes a row, or adds to it. */
const addRow = prepared<ProtectionProviderRow, unknown>((db, row) =>
  db
    .insertInto('protection_providers')
    .values({
      account_id: row.account_id,
      day: row.day,
      provider: row.provider,
      recipients: row.recipients,
      bounces: row.bounces,
      complaints: row.complaints,
    })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'day', 'provider']).doUpdateSet({
        recipients: sql`protection_providers.recipients + excluded.recipients`,
        bounces: sql`protection_providers.bounces + excluded.bounces`,
        complaints: sql`protection_providers.complaints + excluded.complaints`,
      }),
    ),
)
