import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import { type Clock, dayMs, hourMs } from '../clock/index.js'
import {
  type ReceivedArrival,
  type Receiving,
  type TakenFor,
  whyNotTaken,
  withEmptyLine,
} from '../receiving/index.js'
import { type ConnectionGate, makeQuota, makeRoom, networkOf, Refusal } from '../smtpd/index.js'
import { aggregateBytes, examinedBytes } from './arrivals.js'
import { collect } from './incoming.js'
import type { RcptDecision } from './mailboxes.js'
import type { Spool } from './spool.js'

/** What the commands of a session need. */
export interface InboundTransactionDeps {
  clock: Clock
  spool: Spool
  gate: ConnectionGate
  decideRcpt(recipient: string): Promise<RcptDecision>
  /** Called after each stored report. */
  ring(): void
  /** Whether mail for the operator may be forwarded. */
  mayForward(mailFrom: string): boolean
  /** Takes mail for accounts. */
  receiving: Pick<Receiving, 'judge' | 'keep' | 'refused'>
}

// notes/mta.md §3, 'Limits'.
export const maxMessageBytes = 20 * 1024 * 1024
// In one connection; a real server opens another.
const maxMessages = 100
const maxRefusals = 20
// The memory for mails that are arriving; a report takes half a mebibyte at most.
const maxHeldBytes = { all: 64 * 1024 * 1024, perNetwork: 24 * 1024 * 1024 }
// What one network may send to the operator: a person writes less, and a flood cannot push out the mail of others.
const operatorMailsPerHour = 20
const operatorBytesPerHour = 40 * 1024 * 1024
// The replies below are 4yz: the reports come again later and none is lost.
const tooLarge = '552 5.3.4 The message is larger than the mailbox takes'
const noRoomForMail = '452 4.3.1 Mail from there is still being read, try again later'
// Others were faster, or the mail has more recipients than the hour or day has left.
const tooMany = '452 4.2.2 A mailbox takes no more mail for now, try again later'
const tooManyFromThere = '450 4.7.1 Too much mail for the mailbox from there, try again in an hour'
const tooManyOfDay = '450 4.7.1 Too much mail for the mailbox from there, try again tomorrow'
const noRoom = '452 4.3.1 Your reports are still being read, try again later'

/** The state of a session so far. */
interface Course {
  /** The key is the recipient as the client wrote it. */
  recipients: Map<string, RcptDecision & { address: string }>
  refusals: number
  /** The size of the session's last mail without room. */
  refusedBytes: number
  /** The size that MAIL declared for this mail. */
  declaredBytes: number
}

/**
 * The work of MAIL, RCPT and DATA. Each resolves when its command is accepted, or rejects with a `Refusal`.
 */
export function makeTransactions(deps: InboundTransactionDeps) {
  const { clock, spool, gate } = deps
  const room = makeRoom(maxHeldBytes)
  const windowMs = hourMs
  const quota = makeQuota(clock, { most: operatorMailsPerHour, windowMs })
  const { refused } = deps.receiving
  const takeShare = makeShares(clock, refused)
  const bytesQuota = makeQuota(clock, { most: operatorBytesPerHour, windowMs })
  const courses = new WeakMap<SMTPServerSession, Course>()
  const courseOf = (session: SMTPServerSession): Course => {
    const course = courses.get(session) ?? {
      recipients: new Map(),
      refusals: 0,
      refusedBytes: 0,
      declaredBytes: 0,
    }
    courses.set(session, course)
    return course
  }

  return {
    async begin({ args }: SMTPServerAddress, session: SMTPServerSession): Promise<void> {
      const course = courseOf(session)
      const { recipients, refusedBytes } = course
      recipients.clear()
      if (session.transaction > maxMessages) {
        throw new Refusal('421 4.7.0 Too many messages or recipients in one connection')
      }
      // RFC 1870 §6.1: a mail can be refused before it is sent. A client that declares no size is refused at
      // the dot only once, as reading mail after mail in vain takes others' time.
      const declared = declaredBytes(args)
      course.declaredBytes = declared ?? 0
      const size = declared ?? refusedBytes
      if (!spool.hasRoom(session.remoteAddress, Math.min(size, examinedBytes))) {
        throw new Refusal(noRoom)
      }
      gate.advanced(session)
    },
    async judge({ address }: SMTPServerAddress, session: SMTPServerSession): Promise<void> {
      const course = courseOf(session)
      const decision = await deps.decideRcpt(address)
      if (decision.kind === 'refused') {
        // A client with so many refusals is guessing.
        if (++course.refusals > maxRefusals) throw new Refusal('421 4.7.0 Too many bad recipients')
        throw new Refusal(decision.reply)
      }
      if (decision.kind === 'operator' && !quota.take(networkOf(session.remoteAddress))) {
        throw new Refusal('450 4.7.1 Too much mail for the operator, try again in an hour')
      }
      if (decision.kind === 'received' && !course.recipients.has(address)) {
        refuseBeyondBounds(decision.taken, course, refused)
        takeShare(decision.taken, networkOf(session.remoteAddress))
      }
      course.recipients.set(address, decision)
      gate.advanced(session)
    },
    async receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
      const { recipients } = courseOf(session)
      const { remoteAddress, envelope, hostNameAppearsAs } = session
      const mailFrom = envelope.mailFrom === false ? '' : envelope.mailFrom.address
      const given = envelope.rcptTo.map(({ address }) => recipients.get(address))
      const addressed = (kind: RcptDecision['kind']) => [
        ...new Set(
          given.flatMap((decision) => (decision?.kind === kind ? [decision.address] : [])),
        ),
      ]
      const operator = addressed('operator')
      const aggregate = addressed('aggregate')
      const reportBytes = aggregate.length > 0 ? aggregateBytes : examinedBytes
      const taken = takenBy(given)
      const isWhole = operator.length > 0 || taken.length > 0
      const keepBytes = isWhole ? maxMessageBytes : reportBytes
      const network = networkOf(remoteAddress)
      const advanced = () => gate.advanced(session)
      const arriving = { room, network, keepBytes, advanced }
      const { raw, sizeBytes, release } = await collect(stream, arriving)
      // From here on the client waits for us.
      advanced()
      try {
        if (operator.length > 0 && !bytesQuota.take(network, raw.length)) {
          throw new Refusal('452 4.7.1 Too much mail for the operator, try again in an hour')
        }
        if (taken.length > 0) {
          const why = whyNotTaken(raw)
          if (why !== undefined) throw new Refusal(why)
          refuseLarger(taken, sizeBytes, refused)
          const from = { remoteAddress, helo: hostNameAppearsAs || '', mailFrom }
          await takeForAccounts(deps.receiving, { ...from, taken, raw: withEmptyLine(raw) })
        }
        const kept = await spool.keep({
          envelope: { remoteAddress, mailFrom, helo: hostNameAppearsAs || '' },
          reports: [...addressed('report'), ...aggregate],
          reportBytes,
          operator,
          raw,
          sizeBytes,
          forward: deps.mayForward(mailFrom),
        })
        if (!kept) {
          courseOf(session).refusedBytes = sizeBytes
          throw new Refusal(noRoom)
        }
      } finally {
        release()
      }
      advanced()
      deps.ring()
    },
  }
}

/**
 * If an account's plan limits incoming mail by the hour or day, one network gets half of it, and others have the rest.
 */
function makeShares(clock: Clock, refused: Receiving['refused']) {
  const shares = makeQuota(clock, { most: 0, windowMs: hourMs })
  const sharesOfDay = makeQuota(clock, { most: 0, windowMs: dayMs })
  return ({ accountId, limits }: TakenFor, network: string): void => {
    const { receivedPerHour, receivedPerDay } = limits
    const source = `${accountId} ${network}`
    if (receivedPerHour !== null && !shares.take(source, 1, Math.ceil(receivedPerHour / 2))) {
      refused(accountId, 'network')
      throw new Refusal(tooManyFromThere)
    }
    // The account's count begins again with the day in UTC, and so does the network's share.
    const today = `${source} ${Math.floor(clock.now() / dayMs)}`
    if (receivedPerDay !== null && !sharesOfDay.take(today, 1, Math.ceil(receivedPerDay / 2))) {
      refused(accountId, 'network')
      throw new Refusal(tooManyOfDay)
    }
  }
}

/**
 * Refuses a mail that is too large for an account, or that has more of its addresses than the account takes now; the
 * client tries the latter again.
 */
function refuseBeyondBounds(
  { accountId, maxBytes, left, leftWithin }: TakenFor,
  { declaredBytes, recipients }: Course,
  refused: Receiving['refused'],
): void {
  refuseLarger([{ accountId, maxBytes }], declaredBytes, refused)
  const taken = [...recipients.values()].filter(
    (other) => other.kind === 'received' && other.taken.accountId === accountId,
  )
  if (taken.length < left) return
  refused(accountId, leftWithin)
  throw new Refusal(tooMany)
}

function refuseLarger(
  taken: readonly Pick<TakenFor, 'accountId' | 'maxBytes'>[],
  sizeBytes: number,
  refused: Receiving['refused'],
): void {
  const beyond = taken.filter(({ maxBytes }) => sizeBytes > maxBytes)
  if (beyond.length === 0) return
  for (const accountId of new Set(beyond.map((one) => one.accountId))) refused(accountId, 'size')
  throw new Refusal(tooLarge)
}

/**
 * Keeps a mail for accounts, unless the spam filter refuses it, which it may do only here and never
 * afterwards.
 */
async function takeForAccounts(
  receiving: InboundTransactionDeps['receiving'],
  mail: Omit<ReceivedArrival, 'spam'>,
): Promise<void> {
  const recipients = mail.taken.map(({ address }) => address)
  const mark = await receiving.judge({ ...mail, recipients })
  if (mark?.action === 'reject') throw new Refusal('550 5.7.1 The message looks like spam')
  if (mark?.action === 'soft reject') throw new Refusal('451 4.7.1 Try again later')
  const spam = mark === undefined ? null : JSON.stringify(mark)
  const kept = await receiving.keep({ ...mail, spam })
  if (kept === 'reader full') throw new Refusal(noRoomForMail)
  if (kept === 'mailbox full') throw new Refusal(tooMany)
}

/** The addresses of accounts, each once. */
const takenBy = (given: readonly (RcptDecision | undefined)[]) => [
  ...new Map(
    given.flatMap((decision) =>
      decision?.kind === 'received' ? [[decision.address, decision.taken] as const] : [],
    ),
  ).values(),
]

/** SIZE of MAIL, if the client gives it. */
function declaredBytes(args: SMTPServerAddress['args']): number | undefined {
  const given = typeof args === 'object' && 'SIZE' in args ? Number(args.SIZE) : Number.NaN
  return Number.isSafeInteger(given) && given >= 0 ? given : undefined
}
