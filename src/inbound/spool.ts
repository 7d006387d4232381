import type { Selectable } from 'kysely'
import type { Clock } from '../clock/index.js'
import { dmarcMailbox, tlsReportMailbox } from '../domains/index.js'
import type { ReportEnvelope } from '../reports/index.js'
import { makeWaitingList, networkOf } from '../smtpd/index.js'
import { type InboundSpoolRow, idsIn, type Store, type Tx } from '../store/index.js'
import { type Arrival, insertOperatorMails, makeWriteArrival, reportBytesOf } from './arrivals.js'

/** A mail of the spool. */
export interface SpooledMail {
  id: number
  receivedAt: number
  envelope: ReportEnvelope
  /** Throws when what is stored is broken. */
  readonly recipients: string[]
  /** How often it was put off. */
  tries: number
  raw: Buffer
  /** The mail came to an address for aggregate reports. */
  aggregate: boolean
}

/** Mails that have arrived and are not read yet. */
export interface Spool {
  /**
   * Whether another mail of that size may come from there: a flooding client has to wait for its mails
   * to be read.
   */
  hasRoom(remoteAddress: string, bytes: number): boolean
  /** Resolves once the mail is on disk; false: there is no room any more, and nothing was kept. */
  keep(arrival: Arrival): Promise<boolean>
  /**
   * Due mails except those in hand; networks take turns by the time that reading took, and each network's oldest mail
   * comes first.
   */
  next(count: number, inHand: ReadonlySet<number>): Promise<SpooledMail[]>
  /** Notes how long a mail kept the reader busy. */
  wasRead(mail: SpooledMail, ms: number): void
  /** When the first mail outside of `except` falls due; undefined when none waits. */
  nextDue(except: ReadonlySet<number>): number | undefined
  /** Takes in mails that the operator wants read again. */
  takeBack(): Promise<void>
  /** Called in the transaction of the mail's effects; `forget` after its commit. */
  remove(tx: Tx, mail: SpooledMail): Promise<boolean>
  forget(mail: SpooledMail): void
  /** Called in a transaction; `postponed` after its commit. */
  putOff(tx: Tx, mail: SpooledMail, dueAt: number): Promise<void>
  postponed(mail: SpooledMail, dueAt: number): void
  /** Keeps a mail with the operator's mail, under a subject of ours. */
  leaveToOperator(tx: Tx, mail: SpooledMail, subject: string): Promise<void>
}

/** Opens the spool with the mails that a stop or a crash left in it; `limits` is its total room. */
export async function openSpool(
  { store, clock }: { store: Store; clock: Clock },
  limits: { mails: number; bytes: number },
): Promise<Spool> {
  const list = makeWaitingList(limits)
  const write = makeWriteArrival(store)
  const left = await spooled(store)
    .where('parked_at', 'is', null)
    .where('node', '=', store.node.number)
    .orderBy('id')
    .execute()
  for (const { id, due_at: dueAt, remote_address: from, bytes } of left) {
    list.add(networkOf(from), { id, dueAt, bytes })
  }

  return {
    hasRoom: (remoteAddress, bytes) => list.hasRoom(networkOf(remoteAddress), bytes),
    async keep(arrival) {
      const { envelope, reports } = arrival
      const network = networkOf(envelope.remoteAddress)
      const bytes = reportBytesOf(arrival)
      if (reports.length > 0 && !list.hasRoom(network, bytes)) return false
      const id = store.ids.serial()
      // In the list before the mail is on disk, so that others see its share taken; it falls due
      // once it is there.
      if (reports.length > 0) list.add(network, { id, dueAt: Number.POSITIVE_INFINITY, bytes })
      try {
        await write(arrival, id, clock.now())
      } catch (error) {
        list.remove(network, id)
        throw error
      }
      list.setDue(network, id, clock.now())
      return true
    },
    async next(most, inHand) {
      const due = list.due(most, clock.now(), inHand)
      if (due.length === 0) return []
      const rows = await store.read
        .selectFrom('inbound_spool')
        .selectAll()
        .where(
          'id',
          'in',
          idsIn(
            due.map(({ id }) => id),
            'integer',
          ),
        )
        .execute()
      const found = new Map(rows.map((row) => [row.id, row]))
      return due.flatMap(({ id, network }) => {
        const row = found.get(id)
        if (row !== undefined) return [fromRow(row)]
        // Another process deleted the row.
        list.remove(network, id)
        return []
      })
    },
    wasRead: ({ envelope }, ms) => list.wasRead(networkOf(envelope.remoteAddress), ms),
    nextDue: (except) => list.nextDue(except),
    async takeBack() {
      const found = spooled(store).where('parked_at', 'is not', null).where('fault', 'is', null)
      for (const { id, remote_address: from, bytes } of await found.execute()) {
        const dueAt = clock.now()
        const isTaken = await store.write((tx) => takeFromParked(tx, store.node, { id, dueAt }))
        if (isTaken) list.add(networkOf(from), { id, dueAt, bytes })
      }
    },
    async putOff(tx, { id, tries }, dueAt) {
      await tx
        .updateTable('inbound_spool')
        .set({ due_at: dueAt, tries: tries + 1 })
        .where('id', '=', id)
        .execute()
    },
    async remove(tx, { id }) {
      const { numDeletedRows } = await tx
        .deleteFrom('inbound_spool')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return numDeletedRows > 0
    },
    forget: ({ id, envelope }) => list.remove(networkOf(envelope.remoteAddress), id),
    postponed: ({ id, envelope }, dueAt) =>
      list.setDue(networkOf(envelope.remoteAddress), id, dueAt),
    async leaveToOperator(tx, mail, subject) {
      await insertOperatorMails(tx, [operatorMailOf(mail, store.ids.serial(), subject)])
    },
  }
}

/** False if another process took or deleted it meanwhile. */
async function takeFromParked(
  tx: Tx,
  { number: node }: Store['node'],
  { id, dueAt }: { id: number; dueAt: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('inbound_spool')
    .set({ parked_at: null, due_at: dueAt, tries: 0, node })
    .where('id', '=', id)
    .where('parked_at', 'is not', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0
}

const operatorMailOf = (
  { recipients, receivedAt, envelope, raw }: SpooledMail,
  id: number,
  subject: string,
) => ({
  mail: {
    id,
    received_at: receivedAt,
    recipient: recipients[0] ?? '',
    mail_from: envelope.mailFrom,
    header_from: '',
    subject,
    remote_address: envelope.remoteAddress,
    size_bytes: raw.length,
    to_forward: 0 as const,
  },
  raw,
})

/** The mails of the spool, without their bytes. */
const spooled = ({ read }: Store) =>
  read
    .selectFrom('inbound_spool')
    .select(['id', 'due_at', 'remote_address'])
    .select(({ fn }) => fn<number>('length', ['raw']).as('bytes'))

/** A row in the clerk's form. */
const fromRow = (row: Selectable<InboundSpoolRow>): SpooledMail => ({
  id: row.id,
  receivedAt: row.received_at,
  envelope: { remoteAddress: row.remote_address, mailFrom: row.mail_from, helo: row.helo },
  // Parsed on demand: here a broken value would keep the other mails from being read.
  get recipients() {
    return JSON.parse(row.recipients) as string[]
  },
  tries: row.tries,
  raw: row.raw,
  aggregate: forAggregates.test(row.recipients),
})

// Recognised by the stored addresses, as the row has no column for it.
const forAggregates = new RegExp(`"(?:${dmarcMailbox}|${tlsReportMailbox})@`)
