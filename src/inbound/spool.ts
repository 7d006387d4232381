import type { Clock } from '../clock/index.js'
import { glimpseHeader } from '../mime/index.js'
import { idsIn, preparedInsert, type Store, type Tx } from '../store/index.js'
import { sourceOf } from './gate.js'

/** A mail that has arrived whole. */
export interface Arrival {
  remoteAddress: string
  /** Empty for the null sender. */
  mailFrom: string
  /** Return paths and feedback addresses it was accepted for. */
  reports: readonly string[]
  /** postmaster@ and abuse@ addresses it was accepted for. */
  operator: readonly string[]
  raw: Buffer
  sizeBytes: number
  /** A copy of the operator's mail is to be sent on. */
  forward: boolean
}

export interface SpooledMail {
  id: number
  receivedAt: number
  remoteAddress: string
  /** Throws when what is stored is broken. */
  readonly recipients: string[]
  /** How often it was put off. */
  tries: number
  raw: Buffer
}

/** What has arrived and is not yet read. */
export interface Spool {
  /** Whether another one may come from there: who sends a flood waits for it to be read. */
  hasRoom(remoteAddress: string): boolean
  /** Resolves once it is on disk. */
  keep(arrival: Arrival): Promise<void>
  /** Those that are due, the oldest first, but for those in hand. */
  next(count: number, inHand: ReadonlySet<number>): Promise<SpooledMail[]>
  /** When the first one falls due, but for `except`; undefined when none waits. */
  nextDue(except: ReadonlySet<number>): Promise<number | undefined>
  /** Takes in again those that the operator wants read again. */
  takeBack(): Promise<void>
  /** In the transaction that brings about what follows from it; `forget` after its commit. */
  remove(tx: Tx, mail: SpooledMail): Promise<boolean>
  putOff(tx: Tx, mail: SpooledMail, dueAt: number): Promise<void>
  forget(mail: SpooledMail): void
  /** Keeps one with the operator's mail, under a subject of ours. */
  leaveToOperator(tx: Tx, mail: SpooledMail, subject: string): Promise<void>
}

const insertSpooled = preparedInsert('inbound_spool')
const insertMail = preparedInsert('operator_mails')
const insertSource = preparedInsert('operator_mail_sources')

export async function openSpool(
  { store, clock }: { store: Store; clock: Clock },
  limits: { waiting: number; waitingPerAddress: number },
): Promise<Spool> {
  const waiting = new Map<string, number>()
  let total = 0
  const count = (remoteAddress: string, by: 1 | -1) => {
    const source = sourceOf(remoteAddress)
    const left = (waiting.get(source) ?? 0) + by
    if (left > 0) waiting.set(source, left)
    else waiting.delete(source)
    total += by
  }
  const left = await store.read
    .selectFrom('inbound_spool')
    .select('remote_address')
    .where('parked_at', 'is', null)
    .execute()
  for (const row of left) count(row.remote_address, 1)

  return {
    hasRoom: (remoteAddress) =>
      total < limits.waiting &&
      (waiting.get(sourceOf(remoteAddress)) ?? 0) < limits.waitingPerAddress,
    async keep(arrival) {
      const { remoteAddress, reports, operator, raw } = arrival
      const now = clock.now()
      const glimpse = operator.length > 0 ? await glimpseHeader(raw) : { from: '', subject: '' }
      await store.write(async (tx) => {
        if (reports.length > 0) {
          await insertSpooled(tx, {
            id: store.ids.serial(),
            received_at: now,
            due_at: now,
            remote_address: remoteAddress,
            recipients: JSON.stringify(reports),
            tries: 0,
            raw: raw.subarray(0, examinedBytes),
          })
        }
        for (const recipient of operator) {
          const id = store.ids.serial()
          await insertMail(tx, {
            id,
            received_at: now,
            recipient,
            mail_from: arrival.mailFrom,
            header_from: glimpse.from,
            subject: glimpse.subject,
            remote_address: remoteAddress,
            size_bytes: arrival.sizeBytes,
            to_forward: arrival.forward ? 1 : 0,
          })
          await insertSource(tx, { id, raw })
        }
      })
      if (reports.length > 0) count(remoteAddress, 1)
    },
    async next(most, inHand) {
      const rows = await store.read
        .selectFrom('inbound_spool')
        .selectAll()
        .where('due_at', '<=', clock.now())
        .where('id', 'not in', idsIn([...inHand]))
        .orderBy('due_at')
        .orderBy('id')
        .limit(most)
        .execute()
      return rows.map((row) => ({
        id: row.id,
        receivedAt: row.received_at,
        remoteAddress: row.remote_address,
        // Not here, where a broken one would keep the others from being read.
        get recipients() {
          return JSON.parse(row.recipients) as string[]
        },
        tries: row.tries,
        raw: row.raw,
      }))
    },
    async nextDue(except) {
      const first = await store.read
        .selectFrom('inbound_spool')
        .select('due_at')
        .where('id', 'not in', idsIn([...except]))
        .orderBy('due_at')
        .limit(1)
        .executeTakeFirst()
      return first?.due_at
    },
    async takeBack() {
      const found = store.read
        .selectFrom('inbound_spool')
        .select(['id', 'remote_address'])
        .where('parked_at', 'is not', null)
        .where('fault', 'is', null)
      for (const { id, remote_address } of await found.execute()) {
        const waits = { parked_at: null, due_at: clock.now(), tries: 0 }
        const { numUpdatedRows } = await store.write((tx) =>
          tx
            .updateTable('inbound_spool')
            .set(waits)
            .where('id', '=', id)
            .where('parked_at', 'is not', null)
            .executeTakeFirstOrThrow(),
        )
        if (numUpdatedRows > 0) count(remote_address, 1)
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
    forget: ({ remoteAddress }) => count(remoteAddress, -1),
    async leaveToOperator(tx, { recipients, receivedAt, remoteAddress, raw }, subject) {
      const id = store.ids.serial()
      await insertMail(tx, {
        id,
        received_at: receivedAt,
        recipient: recipients[0] ?? '',
        mail_from: '',
        header_from: '',
        subject,
        remote_address: remoteAddress,
        size_bytes: raw.length,
        to_forward: 0,
      })
      await insertSource(tx, { id, raw })
    },
  }
}

/** notes/mta.md §3: what a report says is in its beginning. */
export const examinedBytes = 512 * 1024
