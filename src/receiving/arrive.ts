import { arrivalsLeft, countArrived } from '../billing/index.js'
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

/** A row that was written, and when its mail may be read. */
export interface ArrivedMail {
  id: string
  remoteAddress: string
  bytes: number
}

// Bytes that are written in about the time of a small mail.
const bytesAWeight = 16_384

/**
 * Makes the function that writes mails down: those that come at once share a transaction. Resolves with false where an
 * account takes no more of them this hour or day, and nothing of the mail was written.
 */
export function makeWriteReceived({ gather, ids }: Pick<Store, 'gather' | 'ids'>) {
  return gather<NewReceived, boolean>(
    (tx, arrivals) => writeReceived(tx, ids, arrivals),
    ({ arrival: { raw } }) => 1 + raw.length / bytesAWeight,
  )
}

/** A mail with the ids of its rows, one for each address. */
export interface NewReceived {
  arrival: ReceivedArrival
  ids: readonly string[]
  now: number
}

async function writeReceived(
  tx: Tx,
  ids: Store['ids'],
  arrivals: readonly NewReceived[],
): Promise<boolean[]> {
  const accounts = new Set(
    arrivals.flatMap(({ arrival }) => arrival.taken.map(({ accountId }) => accountId)),
  )
  await aloneWith(tx, accounts)
  const within = await arrivalsWithin(tx, arrivals)
  for (const accountId of [...accounts].sort()) {
    const theirs = [...within].flatMap((one) => rowsFor(one, accountId))
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
  return arrivals.map((one) => within.has(one))
}

/**
 * Those that are within what their accounts' plans allow: RCPT was answered before the mails of other sessions were written,
 * and once for each address of the same mail.
 */
async function arrivalsWithin(tx: Tx, arrivals: readonly NewReceived[]) {
  const left = new Map<string, number>()
  const within = new Set<NewReceived>()
  for (const one of arrivals) {
    const wanted = new Map<string, number>()
    for (const { accountId, limits } of one.arrival.taken) {
      wanted.set(accountId, (wanted.get(accountId) ?? 0) + 1)
      if (left.has(accountId)) continue
      const room = await arrivalsLeft(tx, accountId, limits, one.now)
      left.set(accountId, room?.mails ?? Number.POSITIVE_INFINITY)
    }
    if ([...wanted].some(([accountId, mails]) => mails > (left.get(accountId) ?? 0))) continue
    within.add(one)
    for (const [accountId, mails] of wanted) {
      left.set(accountId, (left.get(accountId) ?? 0) - mails)
    }
  }
  return within
}

interface AccountsMail {
  row: Omit<ReceivedRow, 'node' | 'content_id'>
  header: Buffer
  body: NewContent
}

function rowsFor({ arrival, ids, now }: NewReceived, accountId: string): AccountsMail[] {
  const { taken, raw, remoteAddress, helo, mailFrom, spam } = arrival
  const bodyAt = bodyStart(raw)
  const header = raw.subarray(0, bodyAt - 2)
  const bytes = raw.subarray(bodyAt)
  const { from, subject } = glimpseHeader(raw)
  return taken.flatMap((one, index) => {
    if (one.accountId !== accountId) return []
    const row = {
      id: ids[index] ?? '',
      account_id: accountId,
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
    }
    return [{ row, header, body: makeContent([bytes]) }]
  })
}

/** Where the body begins; the empty line before it is there (`whyNotTaken`). */
export const bodyStart = (raw: Buffer): number => raw.indexOf('\r\n\r\n') + 4

const insertReceived = preparedInsertAll('received')
const insertHeaders = preparedInsertAll('received_headers')
