import {
  type AccountBilling,
  type HandingKey,
  type HourOfAccount,
  setFresh,
  setSurge,
  usualHour,
} from '../billing/index.js'
import { keepNewest } from '../bounded/index.js'
import { hourMs } from '../clock/index.js'
import type { Mailbox } from '../mime/index.js'
import { isSimulated } from '../simulator/index.js'
import { firstUuidAt, type Ids, storedTexts, type Tx } from '../store/index.js'
import type { SurgeSource } from './surge.js'

/** `[protection.surges]`. */
export interface SurgeSettings {
  /** Mails an hour below which nothing is a surge; 0: surges are not looked for. */
  readonly minimum: number
  /** A surge has this many times the usual mails. */
  readonly times: number
}

/** Mails that an account hands in at once. */
export interface Braked {
  by: HandingKey | undefined
  recipients: readonly (readonly Mailbox[])[]
}

/** What an account hands in, in the transaction that accepts it. */
interface Standing {
  billing: AccountBilling
  /** The hour's count, which includes these mails. */
  hour: HourOfAccount
  now: number
  requests: readonly Braked[]
}

interface BrakeDeps {
  ids: Pick<Ids, 'uuid'>
  settings: SurgeSettings
  neverMailed: (
    tx: Tx,
    accountId: string,
    addresses: Iterable<string>,
    before?: number,
  ) => Promise<Set<string>>
  /** What is known of each account's hour, for as long as the hour lasts. */
  remembered: Map<string, SeenOfHour>
}

/** What was found out about an account's hour. */
export interface SeenOfHour {
  hour: number
  /** How many mails the account usually has in an hour. */
  usual: number
  /** How many new recipients an earlier process had counted. */
  counted: number
  /**
   * New recipients counted since. Each counts once: a mailing list's tenth mail goes to nobody new. Undefined: none was
   * looked at yet.
   */
  fresh: Set<string> | undefined
}

/** The recipients who get no mail until somebody decides, and why. */
export interface HeldMail {
  reason: string
  addresses: ReadonlySet<string>
}

/**
 * Tells whose mail must be held. As long as the account hands in no more than half of `settings.minimum` within the
 * hour, this is undefined and costs one comparison. Beyond it the usual number is looked up. Beyond half of ten times
 * the usual, every recipient is looked up, and each new one is counted once.
 *
 * | | mail to whom it has mailed | mail to whom it never mailed |
 * | --- | --- | --- |
 * | up to the number | goes | goes |
 * | more recipients of the second kind than the number: a surge | goes | is held |
 * | a surge waits for a decision | goes | is held, whatever the hour |
 * | released less than a day ago | goes | goes |
 */
export async function brakeSurge(
  tx: Tx,
  deps: BrakeDeps,
  standing: Standing,
): Promise<HeldMail | undefined> {
  const { billing, hour, now, requests } = standing
  const { minimum, times } = deps.settings
  const { accountId, surgeId, unbrakedUntil } = billing
  if (minimum === 0) return undefined
  if (surgeId === null) {
    if (hour.mails <= minimum / 2 || (unbrakedUntil !== null && now < unbrakedUntil))
      return undefined
    const began = now - (now % hourMs)
    const seen = await seenOf(tx, deps, accountId, began)
    const { usual } = seen
    const most = Math.max(minimum, times * usual)
    if (hour.mails <= most / 2) return undefined
    if (seen.fresh === undefined) {
      seen.counted = hour.fresh ?? 0
      seen.fresh = hour.fresh === null ? await freshOfSample(tx, deps, accountId, began) : new Set()
    }
    const addresses = await freshAmong(tx, deps, accountId, requests)
    for (const address of addresses) seen.fresh.add(address)
    const fresh = seen.counted + seen.fresh.size
    await setFresh(tx, { accountId, hour: began, fresh })
    if (fresh <= most) return undefined
    const id = deps.ids.uuid()
    const sources = addSources([], requests, addresses)
    await openSurge(tx, { id, accountId, now, usual, most, mails: hour.mails, sources })
    return { reason: reasonOf(id), addresses }
  }
  const addresses = await freshAmong(tx, deps, accountId, requests)
  if (addresses.size > 0) await addHeld(tx, surgeId, requests, addresses)
  return { reason: reasonOf(surgeId), addresses }
}

// How many accounts beyond half of `minimum` within one hour are remembered.
const mostRemembered = 1_000

/** An account that hands in much all day is looked up once an hour. */
async function seenOf(
  tx: Tx,
  { remembered }: BrakeDeps,
  accountId: string,
  hour: number,
): Promise<SeenOfHour> {
  const known = remembered.get(accountId)
  if (known?.hour === hour) return known
  // What was given up was never wanted: with it, each flood of a thief would make room for a larger one.
  const ofThief = await tx
    .selectFrom('surges')
    .select(['began_at', 'decided_at'])
    .where('account_id', '=', accountId)
    .where('decision', '=', 'failed')
    .execute()
  const usual = await usualHour(tx, { accountId, hour }, (from, to) =>
    ofThief.some(({ began_at, decided_at }) => began_at < to && from <= (decided_at ?? to)),
  )
  const seen = { hour, usual, counted: 0, fresh: undefined }
  keepNewest(remembered, accountId, seen, mostRemembered)
  return seen
}

/** What `queue show` says about held mail; the id leads to the rest. */
const reasonOf = (id: string) => `far more mail to new recipients than usual (surge ${id})`

/** The recipients whom the account never mailed. The simulator's addresses do not count. */
async function freshAmong(
  tx: Tx,
  { neverMailed }: BrakeDeps,
  accountId: string,
  requests: readonly Braked[],
): Promise<Set<string>> {
  const asked = new Set<string>()
  for (const { recipients } of requests) {
    for (const { address, domain } of recipients.flat()) {
      if (!isSimulated(domain)) asked.add(address)
    }
  }
  return await neverMailed(tx, accountId, asked)
}

const countOf = (requests: readonly Braked[], addresses: ReadonlySet<string>) =>
  requests.reduce(
    (sum, { recipients }) =>
      sum + recipients.flat().filter(({ address }) => addresses.has(address)).length,
    0,
  )

// How many of the earlier mails are looked at, evenly spread: the count may be too small, by half at most.
const sampled = 200
// Only an index is read: 10 ms, once an hour for an account that is far beyond its usual number.
const mostSeen = 50_000

/** The recipients of this hour's earlier mails whom the account had not mailed before the hour. */
async function freshOfSample(
  tx: Tx,
  { neverMailed }: BrakeDeps,
  accountId: string,
  began: number,
): Promise<Set<string>> {
  const mails = await tx
    .selectFrom('emails')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', '>=', firstUuidAt(began))
    .orderBy('id', 'desc')
    .limit(mostSeen)
    .execute()
  const step = Math.max(1, Math.floor(mails.length / sampled))
  const ids = mails.filter((_, i) => i % step === 0).map(({ id }) => id)
  if (ids.length === 0) return new Set()
  const rows = await tx.selectFrom('emails').select('to_list').where('id', 'in', ids).execute()
  const addresses = rows.flatMap(({ to_list }) => addressesIn(to_list))
  return await neverMailed(tx, accountId, new Set(addresses), began)
}

/** The addresses in a list of `Name <address>` or plain addresses. */
const addressesIn = (toList: string): string[] =>
  (storedTexts(toList) ?? []).map((text) => /<([^<>]*)>\s*$/.exec(text)?.[1] ?? text)

async function openSurge(
  tx: Tx,
  surge: {
    id: string
    accountId: string
    now: number
    usual: number
    most: number
    mails: number
    sources: readonly SurgeSource[]
  },
): Promise<void> {
  const { id, accountId, now, usual, most, mails, sources } = surge
  await tx
    .insertInto('surges')
    .values({
      id,
      usual,
      most,
      mails,
      account_id: accountId,
      began_at: now,
      held: mailsOf(sources),
      sources: JSON.stringify(sources),
      decision: null,
      decided_at: null,
      decided_by: null,
      ended_at: null,
      announced: 0,
    })
    .execute()
  await setSurge(tx, accountId, { surgeId: id })
}

/** Adds the mails held now to the surge. */
async function addHeld(
  tx: Tx,
  surgeId: string,
  requests: readonly Braked[],
  addresses: ReadonlySet<string>,
): Promise<void> {
  const row = await tx
    .selectFrom('surges')
    .select('sources')
    .where('id', '=', surgeId)
    .executeTakeFirst()
  if (row === undefined) return
  const sources = addSources(JSON.parse(row.sources) as SurgeSource[], requests, addresses)
  await tx
    .updateTable('surges')
    .set({ sources: JSON.stringify(sources), held: mailsOf(sources) })
    .where('id', '=', surgeId)
    .execute()
}

const mailsOf = (sources: readonly SurgeSource[]) =>
  sources.reduce((sum, { mails }) => sum + mails, 0)

// A thief may come from thousands of addresses: sources beyond this number share one entry without key and address.
const mostSources = 20

function addSources(
  known: readonly SurgeSource[],
  requests: readonly Braked[],
  addresses: ReadonlySet<string>,
): SurgeSource[] {
  const sources = known.map((one) => ({ ...one }))
  for (const request of requests) {
    const mails = countOf([request], addresses)
    if (mails === 0) continue
    const given = { keyId: request.by?.keyId ?? null, address: request.by?.address() ?? '' }
    const alike = (keyId: string | null, address: string) =>
      sources.find((one) => one.keyId === keyId && one.address === address)
    const found = alike(given.keyId, given.address)
    if (found !== undefined) found.mails += mails
    else if (sources.length < mostSources) sources.push({ ...given, mails })
    else {
      const rest = alike(null, '')
      if (rest !== undefined) rest.mails += mails
      else sources.push({ keyId: null, address: '', mails })
    }
  }
  return sources
}
