import type { Insertable } from 'kysely'
import { glimpseHeader } from '../mime/index.js'
import type { ReportEnvelope } from '../reports/index.js'
import {
  type InboundSpoolRow,
  type OperatorMailRow,
  type OperatorMailSourceRow,
  preparedInsertAll,
  type Store,
  type Tx,
} from '../store/index.js'

/** A mail that has arrived whole. */
export interface Arrival {
  envelope: ReportEnvelope
  /** Return paths and feedback addresses it was accepted for. */
  reports: readonly string[]
  /** postmaster@ and abuse@ addresses it was accepted for. */
  operator: readonly string[]
  raw: Buffer
  /** How many bytes of it are read as a report; `examinedBytes` unless said otherwise. */
  reportBytes?: number
  sizeBytes: number
  /** Whether a copy of the operator's mail is to be sent on. */
  forward: boolean
}

/**
 * How many bytes are read of a mail with aggregate reports, which are useful only as a whole: some ten MiB when
 * unpacked.
 */
export const aggregateBytes = 2 * 1024 * 1024

/** notes/mta.md §3: a report's beginning tells everything. */
export const examinedBytes = 512 * 1024

/** How many bytes of a mail are kept to be read as a report. */
export const reportBytesOf = ({ raw, reportBytes = examinedBytes }: Arrival): number =>
  Math.min(raw.length, reportBytes)

/** Stores an arrival under this id, together with other waiting ones. */
export type WriteArrival = (arrival: Arrival, id: number, now: number) => Promise<void>

/**
 * Makes the function that stores mails. Mails that come at once share a transaction; a large one
 * counts as several small ones, so that none makes the others wait long.
 */
export function makeWriteArrival({ gather, ids }: Pick<Store, 'gather' | 'ids'>): WriteArrival {
  const write = gather<NewArrival, undefined>(
    (tx, arrivals) => writeArrivals(tx, ids, arrivals),
    ({ arrival: { raw } }) => 1 + raw.length / bytesAWeight,
  )
  return async (arrival, id, now) => {
    const glimpse = arrival.operator.length > 0 ? glimpseHeader(arrival.raw) : noGlimpse
    await write({ arrival, id, now, glimpse })
  }
}

// Writing this many bytes takes about as long as a small mail.
const bytesAWeight = 16_384

interface NewArrival {
  arrival: Arrival
  id: number
  now: number
  glimpse: ReturnType<typeof glimpseHeader>
}

const noGlimpse = { from: '', subject: '' }

/**
 * Stores arrivals: mail to be read as a report goes into the spool, and the operator's mail is kept
 * for each of its addresses.
 */
async function writeArrivals(
  tx: Tx,
  ids: Store['ids'],
  arrivals: readonly NewArrival[],
): Promise<undefined[]> {
  const spooled: Insertable<InboundSpoolRow>[] = []
  const mails: OperatorsMail[] = []
  for (const { arrival, id, now, glimpse } of arrivals) {
    const { envelope, reports, operator, raw } = arrival
    const from = { remote_address: envelope.remoteAddress, mail_from: envelope.mailFrom }
    if (reports.length > 0) {
      spooled.push({
        id,
        received_at: now,
        due_at: now,
        ...from,
        helo: envelope.helo,
        tries: 0,
        recipients: JSON.stringify(reports),
        raw: raw.subarray(0, reportBytesOf(arrival)),
      })
    }
    for (const recipient of operator) {
      const mail = {
        id: ids.serial(),
        received_at: now,
        recipient,
        ...from,
        header_from: glimpse.from,
        subject: glimpse.subject,
        size_bytes: arrival.sizeBytes,
        to_forward: arrival.forward ? 1 : 0,
      }
      mails.push({ mail, raw })
    }
  }
  await insertSpooled(tx, spooled)
  await insertOperatorMails(tx, mails)
  return arrivals.map(() => undefined)
}

interface OperatorsMail {
  mail: Insertable<OperatorMailRow>
  raw: OperatorMailSourceRow['raw']
}

/**
 * Keeps mails for the operator; the source is in a table of its own, as a list of mails does not
 * read it.
 */
export async function insertOperatorMails(tx: Tx, mails: readonly OperatorsMail[]): Promise<void> {
  await insertMails(
    tx,
    mails.map(({ mail }) => mail),
  )
  await insertSources(
    tx,
    mails.map(({ mail: { id }, raw }) => ({ id, raw })),
  )
}

const insertSpooled = preparedInsertAll('inbound_spool')
const insertMails = preparedInsertAll('operator_mails')
const insertSources = preparedInsertAll('operator_mail_sources')
