import type { ExpressionBuilder } from 'kysely'
import { dayMs, isoTime, isZone, localTime, timeOfLocal } from '../clock/index.js'
import { blockedAmong } from '../deliveries/index.js'
import { jsonObjectIn } from '../json/index.js'
import {
  idsOf,
  preparedInsertAll,
  type Read,
  type Store,
  type Tables,
  type Tx,
} from '../store/index.js'
import { type AudienceMember, contactsOf } from './audience.js'
import type { Broadcast } from './broadcast.js'
import { amongWhom } from './members.js'
import { type Audience, requireWhom } from './whom.js'

/*
 * A campaign that each recipient gets at one time of their own clock. It begins when it is that time in the easternmost
 * zone. The first pass over its audience makes the mails for which it is time, and writes down the other recipients
 * with their times (`broadcast_later`). A mail is made in the transaction that takes its row, so that a kill makes none
 * twice.
 */

// UTC+14, where each day begins.
const easternmost = 'Pacific/Kiritimati'

// UTC-12, where each day ends.
const westernmost = 'Etc/GMT+12'

/**
 * The cursor of a campaign whose audience was passed, while some still get it later; it sorts after each contact's id.
 */
export const endOfAudience = '~'

/** When clocks of another zone show the time that those of `zone` show at a moment, to the second (ms). */
export function sameByClock(moment: number, zone: string, other: string): number | undefined {
  return timeOfLocal(exactLocal(moment, zone), other)
}

/** What a clock in the zone shows at a moment (ms), with seconds; zones of today do not differ in these. */
export const exactLocal = (moment: number, zone: string): string =>
  `${localTime(moment, zone)}${isoTime(moment).slice(16, 23)}`

/** When a campaign for that moment begins (ms): if it goes by each recipient's clock, once it is that time anywhere. */
export function firstTime(moment: number, zone: string | null): number {
  if (zone === null) return moment
  return Math.min(moment, sameByClock(moment, zone, easternmost) ?? moment)
}

/** When the first and the last of its recipients get it (ms), at one time of their own clocks. */
export function spanOfOwnTime(moment: number, zone: string): { first: number; last: number } {
  const last = sameByClock(moment, zone, westernmost)
  return { first: firstTime(moment, zone), last: Math.max(moment, last ?? moment) }
}

/**
 * When a scheduled campaign begins (ms); null: it has no time. A beginning other than `scheduled_at` has a column of
 * its own, as `scheduled_at` is what people gave.
 */
export const beginOf = ({
  next_at,
  scheduled_at,
}: Pick<Broadcast, 'next_at' | 'scheduled_at'>): number | null => next_at ?? scheduled_at

/**
 * When each recipient of a campaign gets it (ms), by their own clock or else that of its zone; undefined: all at once.
 */
export function makeOwnTime({
  scheduled_at: moment,
  local_zone: zone,
  decided_at: decidedAt,
}: Pick<Broadcast, 'scheduled_at' | 'local_zone' | 'decided_at'>):
  | ((of: Pick<AudienceMember, 'metadata'>) => number)
  | undefined {
  if (moment === null || zone === null) return undefined
  const local = exactLocal(moment, zone)
  const known = new Map<string, number>()
  return (member) => {
    const theirs = zoneOf(member) ?? zone
    const at =
      known.get(theirs) ??
      (decidedAt === null
        ? (sameByClock(moment, zone, theirs) ?? 0)
        : nextTime(local, theirs, decidedAt))
    known.set(theirs, at)
    return at
  }
}

/** The zone of a person's own clock, if known. */
export function zoneOf({ metadata }: Pick<AudienceMember, 'metadata'>): string | undefined {
  const { timeZone } = jsonObjectIn(metadata ?? '') ?? {}
  return typeof timeZone === 'string' && isZone(timeZone) ? timeZone : undefined
}

/**
 * When clocks in a zone next show the time of day of `local`, from a moment on (ms): so the rest of a campaign gets the
 * chosen version, each person at the hour of the test.
 */
export function nextTime(local: string, zone: string, from: number): number {
  const time = local.slice(10)
  // On that moment's day in the zone, or the next day.
  for (const later of [0, dayMs]) {
    const at = timeOfLocal(`${localTime(from + later, zone).slice(0, 10)}${time}`, zone)
    if (at !== undefined && at >= from) return at
  }
  return from
}

/** Who gets a campaign later, and when (ms). */
export interface Later {
  contactId: string
  dueAt: number
}

/** Writes down who gets a campaign later. */
export async function putOff(tx: Tx, broadcastId: string, later: readonly Later[]): Promise<void> {
  await insertLater(
    tx,
    later.map(({ contactId, dueAt }) => ({
      broadcast_id: broadcastId,
      due_at: dueAt,
      contact_id: contactId,
    })),
  )
}

const insertLater = preparedInsertAll('broadcast_later')

/** The recipients whose time has come, and what is left of the later ones. */
export interface DueLater {
  taken: Later[]
  /** Those who are still in the audience, and can be mailed. */
  reachable: (AudienceMember & { dueAt: number })[]
  /** Those who are still in the audience, and must not be mailed any more. */
  blocked: AudienceMember[]
  /** When it is time for the next one (ms); null: these were the last. */
  nextAt: number | null
}

/** The first `limit` of those whose time has come at `until` (ms). Throws as `nextOfAudience` does. */
export async function dueLater(
  read: Read,
  { id, accountId, whom, topicId, type = 'marketing' }: Audience & { id: string },
  { until, limit }: { until: number; limit: number },
): Promise<DueLater> {
  const rows = await read
    .selectFrom('broadcast_later')
    .select(['due_at as dueAt', 'contact_id as contactId'])
    .where('broadcast_id', '=', id)
    .orderBy('due_at')
    .orderBy('contact_id')
    .limit(limit + 1)
    .execute()
  const taken = rows.slice(0, limit).filter(({ dueAt }) => dueAt <= until)
  const nextAt = rows[taken.length]?.dueAt ?? null
  if (taken.length === 0) return { taken, reachable: [], blocked: [], nextAt }
  const ids = taken.map(({ contactId }) => contactId)
  const still = await amongWhom(read, whom, ids)
  await requireWhom(read, accountId, whom)
  const members = await contactsOf(read, { json: JSON.stringify(still) })
  const emails = members.map(({ email }) => email)
  const blocked = await blockedAmong(read, { accountId, type, topicId }, emails)
  const dueAt = new Map(taken.map((one) => [one.contactId, one.dueAt]))
  const reachable = members
    .filter(({ email }) => !blocked.has(email))
    .map((one) => Object.assign(one, { dueAt: dueAt.get(one.contactId) ?? 0 }))
  const left = members.filter(({ email }) => blocked.has(email))
  return { taken, reachable, blocked: left, nextAt }
}

/** When it is time for the next and for the last of the later recipients (ms); undefined: there is none. */
export async function laterSpan(
  read: Read,
  broadcastId: string,
): Promise<{ next: number; last: number } | undefined> {
  const end = (order: 'asc' | 'desc') =>
    read
      .selectFrom('broadcast_later')
      .select('due_at')
      .where('broadcast_id', '=', broadcastId)
      .orderBy('due_at', order)
      .limit(1)
      .executeTakeFirst()
  const [next, last] = await Promise.all([end('asc'), end('desc')])
  return next && last && { next: next.due_at, last: last.due_at }
}

/** Whether all of them still wait for their turn. */
export async function areLater(read: Read, id: string, taken: readonly Later[]): Promise<boolean> {
  const { found } = await read
    .selectFrom('broadcast_later')
    .select(({ fn }) => fn.countAll<number>().as('found'))
    .where(among(id, taken))
    .executeTakeFirstOrThrow()
  return found === taken.length
}

/** Removes the rows of those who have had their turn. */
export async function takeLater(tx: Tx, id: string, taken: readonly Later[]): Promise<void> {
  await tx.deleteFrom('broadcast_later').where(among(id, taken)).execute()
}

/** Rows of the campaign by their key: those between the first and the last of `taken`. */
const among =
  (id: string, taken: readonly Later[]) =>
  ({ and, eb }: ExpressionBuilder<Tables, 'broadcast_later'>) => {
    const times = taken.map(({ dueAt }) => dueAt)
    const json = JSON.stringify(taken.map(({ contactId }) => contactId))
    return and([
      eb('broadcast_id', '=', id),
      eb('due_at', '>=', Math.min(...times)),
      eb('due_at', '<=', Math.max(...times)),
      eb('contact_id', 'in', idsOf(json, 'text')),
    ])
  }

// How many rows one write deletes: a few milliseconds.
const perSlice = 1_000

/** Forgets the later recipients of a campaign that is over. */
export async function forgetLater(store: Pick<Store, 'write'>, broadcastId: string) {
  for (let deleted = perSlice; deleted === perSlice; ) {
    deleted = await store.write(async (tx) => {
      const rows = await tx
        .selectFrom('broadcast_later')
        .select(['due_at as dueAt', 'contact_id as contactId'])
        .where('broadcast_id', '=', broadcastId)
        .orderBy('due_at')
        .orderBy('contact_id')
        .limit(perSlice)
        .execute()
      if (rows.length > 0) await takeLater(tx, broadcastId, rows)
      return rows.length
    })
  }
}
