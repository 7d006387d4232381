import { randomInt } from 'node:crypto'
import { v7 } from 'uuid'
import type { Clock } from '../clock/index.js'
import { bulkSlot, commandSlot } from './turns.js'

export interface Ids {
  /**
   * UUIDv7, lower case: rises in this thread, so that new rows are at the end of every index and pages by a cursor
   * miss none.
   */
  uuid(): string
  /** The id of a test key's mail: a UUID of version 8, which `isTestId` recognizes; rises with the others. */
  testUuid(): string
  /**
   * A number, such as a delivery's: milliseconds since 2025 (41 bits), a count (2 bits), the writer (10 bits). It
   * rises in this thread, fits a JavaScript number, and is never given twice, not by two writers and not after a
   * restore. Numbers from before Nov 2026 have a count of 8 bits and a thread's slot of 4; `makeIds` begins above all
   * of them.
   */
  serial(): number
}

/** The largest ids that there are; 0 where there are none. */
interface LastIds {
  serial: number
  /** The milliseconds in the largest UUID. */
  uuidMs: number
}

/** A UUIDv7 of this time (ms), for code without `Ids`: it needs no thread's number. */
export const newUuid = (now: number): string => v7({ msecs: now })

const epochMs = Date.UTC(2025, 0, 1)
const writers = 1_024
const countsPerMs = 4
const perMs = countsPerMs * writers

/**
 * The writer numbers of a thread. More numbers give more ids a millisecond before a burst runs ahead of the clock.
 */
export interface Writers {
  first: number
  count: number
}

/** A thread has 32 of the numbers: 128 ids a millisecond. The last 32 belong to nobody. */
export function writersOf(slot: number): Writers {
  const first = slot * writersPerSlot
  if (slot < 0 || first >= nobodysWriter - writersPerSlot) {
    throw new RangeError(`No writer has slot ${slot}`)
  }
  return { first, count: writersPerSlot }
}

/**
 * For an appliance that may share its database: each node has 32 numbers, of which a thread has one (4 ids a
 * millisecond) and the thread of `bulkSlot` eight. The first 32 are for commands, each of which takes one at random.
 */
export function writersOfNode(node: number, slot: number): Writers {
  if (slot === commandSlot) return { first: randomInt(writersPerSlot), count: 1 }
  const first = node * writersPerSlot
  return slot === bulkSlot ? { first: first + slots, count: 8 } : { first: first + slot, count: 1 }
}

// The numbers after those of all slots.
const slots = 22
const writersPerSlot = 32
const nobodysWriter = writers - 1

/** Begins above `last`: the clock may have been set back since, which would give the same numbers again. */
export function makeIds(clock: Clock, { first, count }: Writers, last: LastIds): Ids {
  const ownPerMs = count * countsPerMs
  // Its own ids, numbered consecutively: for a millisecond, each count with each of the writers, in rising order.
  let own = (Math.floor(last.serial / perMs) + 1) * ownPerMs - 1
  let uuidMs = last.uuidMs + 1
  let uuidCount = 0
  let wasTest = false
  const beginMs = (ms: number) => {
    uuidMs = ms
    // Half of the range of 32 bits, so that there is as much left to count; the 42 bits after them are random too.
    uuidCount = randomInt(2 ** 31)
  }
  return {
    uuid() {
      const now = clock.now()
      if (now > uuidMs) beginMs(now)
      // A UUID of version 8 sorts behind all of version 7 of its millisecond.
      else if (wasTest) beginMs(uuidMs + 1)
      else uuidCount++
      wasTest = false
      return v7({ msecs: uuidMs, seq: uuidCount })
    },
    testUuid() {
      const now = clock.now()
      if (now > uuidMs) beginMs(now)
      else uuidCount++
      wasTest = true
      const id = v7({ msecs: uuidMs, seq: uuidCount })
      return id.slice(0, versionAt) + testVersion + id.slice(versionAt + 1)
    },
    serial() {
      // In a burst, or after the clock went back, it counts on from the last one.
      own = Math.max(own + 1, (clock.now() - epochMs) * ownPerMs)
      const place = own % ownPerMs
      const ms = (own - place) / ownPerMs
      return ms * perMs + Math.floor(place / count) * writers + first + (place % count)
    },
  }
}

/**
 * Every table whose ids come from the same counter. A table that is missing here could get an id a second time after
 * a restart.
 */
const serialTables = [
  'bodies',
  'queue',
  'deliveries',
  'inbound_spool',
  'operator_mails',
  'sandbox_messages',
  // These rows are all that is left of a delivery whose mail is deleted.
  'past_deliveries',
  'broadcast_tests',
  'automation_steps',
  'automation_events',
  'contents',
  'submission_sessions',
]
/**
 * Likewise for UUIDs of version 7: they have to be larger than all existing ones, also after the clock was set back.
 */
const uuidTables = [
  'automations',
  'automation_live',
  'automation_runs',
  'accounts',
  'api_keys',
  'broadcasts',
  'contact_fields',
  'contact_lists',
  'contacts',
  'dkim_keys',
  'domains',
  'emails',
  'invitations',
  'operator_keys',
  'pictures',
  'received',
  'receiving_rules',
  'segments',
  'surges',
  'template_versions',
  'templates',
  'topics',
  'forms',
  'form_entries',
  'gone_names',
  'users',
  'webhook_endpoints',
]

/**
 * Only a damaged row has an id of a later time. Counting on from it would soon reach numbers that JavaScript cannot
 * distinguish (2094), and then nothing could be accepted any more.
 */
const lastMs = Date.UTC(2090, 0, 1)

/** Each a look at the end of an index. */
export const lastIdsSql = {
  serial: largestOf(serialTables, `${firstSerialAt(lastMs)}`),
  uuid: largestOf(uuidTables, `'${firstUuidAt(lastMs)}'`),
}

/**
 * The largest id of each table is one look into its primary key; a `max` over a union of whole
 * tables would read them all.
 */
function largestOf(tables: readonly string[], below: string): string {
  const each = tables.map(
    (table) => `select max("id") as "id" from "${table}" where "id" < ${below}`,
  )
  return `select max("id") as "id" from (${each.join(' union all ')}) as "largest"`
}

/** Read at open; `first` returns a query's one cell. Every thread reads the ids of all threads. */
export async function readLastIds(first: (query: string) => unknown): Promise<LastIds> {
  const uuidMs = uuidTime(String((await first(lastIdsSql.uuid)) ?? ''))
  return {
    serial: Number((await first(lastIdsSql.serial)) ?? 0),
    uuidMs: Number.isNaN(uuidMs) ? 0 : uuidMs,
  }
}

/** When the delivery of this number was accepted, in milliseconds. */
export const acceptedAt = (serial: number) => Math.floor(serial / perMs) + epochMs

/** A number of that time that no delivery ever has, because its writer is nobody. For tests of reports. */
export const nobodysSerial = (ms: number) => firstSerialAt(ms) + perMs - 1

/** The first number that a delivery accepted at `ms` can have. */
export function firstSerialAt(ms: number): number {
  return Math.max(0, ms - epochMs) * perMs
}

// RFC 9562 §4.2: the digit of a UUID that has its version; §5.8: whoever makes a UUID of version 8 chooses its
// fields.
const versionAt = 14
const testVersion = '8'

/**
 * Whether a mail's id says that a test key handed it in. Events, webhooks and figures know only the id of a mail,
 * also when it is deleted, so no look-up is needed.
 */
export const isTestId = (id: string): boolean => id[versionAt] === testVersion

/** The time in a UUIDv7, in ms. */
export const uuidTime = (uuid: string) => Number.parseInt(uuid.replace('-', '').slice(0, 12), 16)

/** A text that sorts before every UUIDv7 of `ms` and later. RFC 9562 §5.7: the first 48 bits are the time. */
export function firstUuidAt(ms: number): string {
  const hex = Math.min(Math.max(0, Math.floor(ms)), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
