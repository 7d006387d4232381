import { type ArrivalsLeft, arrivalsLeft, countArrived } from '../billing/index.js'
import { makeContent, type NewContent, putContents } from '../contents/index.js'
import { glimpseHeader } from '../mime/index.js'
import {
  aloneWith,
  preparedInsertAll,
  type ReceivedRow,
  type Store,
  type Tx,
} from '../store/index.js'
import { withoutMarks } from './header.js'
import type { TakenFor } from './taking.js'

/** A mail that has arrived whole, for one or more addresses of accounts. */
export interface ReceivedArrival {
  taken: readonly TakenFor[]
  remoteAddress: string
  helo: string
  /** Empty for the null sender. */
  mailFrom: string
  /** Its lines end in CRLF. */
  raw: Buffer
  /** JSON of what the spam filter said; null: nothing. */
  spam: string | null
}

/** The part of a row that reading a mail, and what follows, needs. */
export type ReadableRow = Omit<ReceivedRow, 'node' | 'content_id'>

/** A written row, and the mail as it came, with all lines in CRLF. */
export interface ArrivedMail {
  id: string
  remoteAddress: string
  bytes: number
  row: ReadableRow
  raw: Buffer
}

// So many bytes are written in about the time of a small mail.
const bytesAWeight = 16_384

/**
 * Makes the function that writes mails down. Mails that come at the same time share a transaction. Resolves with the
 * account that takes no more this hour or day, if there is one; then nothing of the mail was written.
 */
export function makeWriteReceived({ gather, ids }: Pick<Store, 'gather' | 'ids'>) {
  return gather<NewReceived, FullAccount | undefined>(
    (tx, arrivals) => writeReceived(tx, ids, arrivals),
    ({ arrival: { raw } }) => 1 + raw.length / bytesAWeight,
  )
}

/** An account whose plan lets no more mail come in, within the hour or the day. */
export interface FullAccount {
  accountId: string
  within: ArrivalsLeft['within']
}

/** A mail that is about to be written, with a row for each address. */
export interface NewReceived {
  arrival: ReceivedArrival
  now: number
  header: Buffer
  body: NewContent
  rows: readonly ReadableRow[]
}

async function writeReceived(
  tx: Tx,
  ids: Store['ids'],
  arrivals: readonly NewReceived[],
): Promise<(FullAccount | undefined)[]> {
  const accounts = new Set(
    arrivals.flatMap(({ arrival }) => arrival.taken.map(({ accountId }) => accountId)),
  )
  await aloneWith(tx, accounts)
  const full = await arrivalsBeyond(tx, arrivals)
  const within = arrivals.filter((one) => !full.has(one))
  for (const accountId of [...accounts].sort()) {
    const theirs = within.flatMap(({ rows, header, body }) =>
      rows.flatMap((row) => (row.account_id === accountId ? [{ row, header, body }] : [])),
    )
    if (theirs.length === 0) continue
    const contentIds = await putContents(
      tx,
      { ids },
      accountId,
      theirs.map(({ body }) => body),
    )
    await insertReceived(
      tx,
      theirs.map(({ row }, index) => ({ ...row, content_id: contentIds[index] ?? 0 })),
    )
    await insertHeaders(
      tx,
      theirs.map(({ row, header }) => ({ received_id: row.id, header })),
    )
    await countArrived(tx, accountId, theirs.length, theirs[0]?.row.received_at ?? 0)
  }
  return arrivals.map((one) => full.get(one))
}

/**
 * The arrivals beyond an account's plan. RCPT was answered before the mails of other sessions were written, and once
 * for each address of the same mail.
 */
async function arrivalsBeyond(tx: Tx, arrivals: readonly NewReceived[]) {
  const left = new Map<string, ArrivalsLeft>()
  const beyond = new Map<NewReceived, FullAccount>()
  for (const one of arrivals) {
    const wanted = new Map<string, number>()
    for (const { accountId, limits } of one.arrival.taken) {
      wanted.set(accountId, (wanted.get(accountId) ?? 0) + 1)
      if (left.has(accountId)) continue
      const room = await arrivalsLeft(tx, accountId, limits, one.now)
      left.set(accountId, room ?? { mails: Number.POSITIVE_INFINITY, within: 'day' })
    }
    const full = [...wanted].flatMap(([accountId, mails]): FullAccount[] => {
      const room = left.get(accountId)
      return room === undefined || mails <= room.mails ? [] : [{ accountId, within: room.within }]
    })[0]
    if (full !== undefined) {
      beyond.set(one, full)
      continue
    }
    for (const [accountId, mails] of wanted) {
      const room = left.get(accountId)
      if (room !== undefined) room.mails -= mails
    }
  }
  return beyond
}

/** Hashes the mail and reads its header before the write, for which others wait too. */
export function prepareReceived(
  arrival: ReceivedArrival,
  ids: readonly string[],
  now: number,
): NewReceived {
  const { taken, raw, remoteAddress, helo, mailFrom, spam } = arrival
  const bodyAt = bodyStart(raw)
  const bytes = raw.subarray(bodyAt)
  const { from, subject } = glimpseHeader(raw)
  const rows = taken.map((one, index) => ({
    id: ids[index] ?? '',
    account_id: one.accountId,
    domain_id: one.domainId,
    rule_id: one.ruleId,
    action: one.action,
    forward_to: one.forwardTo,
    received_at: now,
    due_at: now,
    tries: 0,
    remote_address: remoteAddress,
    helo,
    mail_from: mailFrom,
    recipient: one.address,
    size_bytes: raw.length,
    body_bytes: bytes.length,
    header_from: withoutMarks(from),
    subject: withoutMarks(subject),
    message_id: '',
    in_reply_to: '',
    email_id: null,
    attachments: 0,
    spf: '',
    dkim: '',
    dmarc: '',
    arc: '',
    automatic: null,
    is_loop: 0,
    spam,
    forward_id: null,
    forward_fault: null,
    fault: null,
  }))
  return { arrival, now, rows, header: raw.subarray(0, bodyAt - 2), body: makeContent([bytes]) }
}

/** Where the body begins; the empty line before it exists (`whyNotTaken`). */
export const bodyStart = (raw: Buffer): number => raw.indexOf('\r\n\r\n') + 4

const insertReceived = preparedInsertAll('received')
const insertHeaders = preparedInsertAll('received_headers')
