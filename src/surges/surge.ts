import { isoTime } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { Read, SurgeRow } from '../store/index.js'

/** Which key handed in the held mail, and from which address. */
export interface SurgeSource {
  /**
   * Null: without a key, as in a trusted network and in the dashboard; or all sources after the first twenty together.
   */
  keyId: string | null
  /** Empty where it is not known. */
  address: string
  mails: number
}

/** A surge and its state. */
export interface Surge {
  id: string
  accountId: string
  accountName: string
  beganAt: number
  usual: number
  most: number
  mails: number
  held: number
  sources: readonly (SurgeSource & { keyName: string | null })[]
  decision: SurgeRow['decision']
  decidedAt: number | null
  decidedBy: string | null
  endedAt: number | null
}

/** The account's surges, the newest first; with `before` only older ones. */
export async function surgesOf(
  read: Read,
  accountId: string,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<Surge[]> {
  const rows = await read
    .selectFrom('surges')
    .selectAll()
    .where('account_id', '=', accountId)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return await withNames(read, rows)
}

/** Throws a 404. */
export async function findSurge(read: Read, accountId: string, id: string): Promise<Surge> {
  const surge = await anySurge(read, id)
  if (surge === undefined || surge.accountId !== accountId) throw noSurge(id)
  return surge
}

/** For the operator: a surge of any account. Throws a 404. */
export async function findAnySurge(read: Read, id: string): Promise<Surge> {
  const surge = await anySurge(read, id)
  if (surge === undefined) throw noSurge(id)
  return surge
}

/** The undecided surges of all accounts; each account has one at most. */
export async function openSurges(read: Read, limit: number): Promise<Surge[]> {
  const rows = await read
    .selectFrom('subscriptions')
    .innerJoin('surges', 'surges.id', 'subscriptions.surge_id')
    .selectAll('surges')
    .where('surge_id', 'is not', null)
    .orderBy('surges.id')
    .limit(limit)
    .execute()
  return await withNames(read, rows)
}

async function anySurge(read: Read, id: string): Promise<Surge | undefined> {
  const rows = await read
    .selectFrom('surges')
    .selectAll()
    .where('id', '=', id.toLowerCase())
    .execute()
  return (await withNames(read, rows))[0]
}

const noSurge = (id: string) =>
  new ApiError('not_found', `There is no surge ${id.slice(0, 60)} of this account`)

/** Adds the names of the accounts and of the keys, also of deleted ones. */
async function withNames(read: Read, rows: readonly SurgeRow[]): Promise<Surge[]> {
  const sources = rows.map((row) => JSON.parse(row.sources) as SurgeSource[])
  const namesOf = async (table: 'accounts' | 'api_keys', ids: readonly string[]) => {
    if (ids.length === 0) return new Map<string, string>()
    const named = read.selectFrom(table).select(['id', 'name']).where('id', 'in', ids)
    return new Map((await named.execute()).map(({ id, name }) => [id, name]))
  }
  const keyIds = sources.flat().flatMap(({ keyId }) => keyId ?? [])
  const names = await namesOf('api_keys', keyIds)
  const accounts = await namesOf(
    'accounts',
    rows.map((row) => row.account_id),
  )
  return rows.map((row, i) => ({
    id: row.id,
    accountId: row.account_id,
    accountName: accounts.get(row.account_id) ?? row.account_id,
    beganAt: row.began_at,
    usual: row.usual,
    most: row.most,
    mails: row.mails,
    held: row.held,
    sources: (sources[i] ?? []).map((one) => ({
      ...one,
      keyName: one.keyId === null ? null : (names.get(one.keyId) ?? null),
    })),
    decision: row.decision,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    endedAt: row.ended_at,
  }))
}

/** The form in which the API and the commands answer it. */
export const shownSurge = (surge: Surge) => ({
  id: surge.id,
  beganAt: isoTime(surge.beganAt),
  usual: surge.usual,
  most: surge.most,
  mails: surge.mails,
  held: surge.held,
  sources: surge.sources.map(({ keyId, keyName, address, mails }) => ({
    keyId,
    keyName,
    address,
    mails,
  })),
  decision: surge.decision,
  decidedAt: isoTime(surge.decidedAt),
  decidedBy: surge.decidedBy,
  endedAt: isoTime(surge.endedAt),
})
