import { isoTime } from '../../clock/index.js'
import {
  type EndedDelivery,
  lastSaid,
  type PastAttempt,
  readTranscripts,
  type WaitingDelivery,
} from '../../deliveries/index.js'
import { type EmailRecord, type MailHappening, timelineOf } from '../../emails/index.js'
import { readTimeline } from '../../events/index.js'
import type { Read } from '../../store/index.js'
import { type Moment, moment } from '../format.js'
import type { Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import { toneOf } from './words.js'

/** What happened to a mail, one page of it. */
export interface TimelineView {
  lines: TimelineLine[]
  /** The address of the events after these. */
  more: string | undefined
}

/** One event, in words. */
export interface TimelineLine {
  at: Moment
  /** The time to the millisecond, in UTC. */
  exact: string
  what: string
  tone: Tone
  recipient: string | undefined
  reply: string | undefined
  means: string
  /** The rule and its file, which only operators can change. */
  rule: string | undefined
  byMachine: boolean
  /** The conversation of the attempt, where it is kept and short. */
  transcript: string | undefined
}

// A page stays at some tens of kB, however long the servers' answers are.
const linesShown = 50
const transcriptChars = 20_000
const transcriptsRead = 100

/** What happened to a mail, some lines a page; each attempt has its conversation, as far as there is room. */
export async function historyOf(
  read: Read,
  visit: Visit,
  email: EmailRecord,
  deliveries: readonly (EndedDelivery | WaitingDelivery)[],
): Promise<TimelineView> {
  const { account, query, base } = visit
  // Anybody may write the address, so at most a million rows are passed over.
  const skip = Math.min(1_000_000, Math.max(0, Number.parseInt(query.get('skip') ?? '', 10) || 0))
  const events = await readTimeline(read, account.id, email.id, { skip, limit: linesShown + 1 })
  const happened = timelineOf(email, events.slice(0, linesShown))
  const lines = skip === 0 ? happened : happened.filter(({ what }) => !isAtOnce(what))
  const tried = new Set(
    happened.flatMap(({ deliveryId, what }) => (what === 'deferred' ? [deliveryId] : [])),
  )
  const past = await readTranscripts(
    read,
    [...tried].filter((id) => id !== null),
    transcriptsRead,
  )
  // Made for all events of this page at once, because each conversation belongs to its attempt's line.
  const talks = conversations(happened, deliveries, past)
  return {
    lines: lines.map((line) => lineOf(line, talks.get(line), visit)),
    more:
      events.length > linesShown
        ? `${base}/emails/${email.id}?skip=${skip + linesShown}`
        : undefined,
  }
}

/** Told on the first page only. */
const isAtOnce = (what: MailHappening['what']) => what === 'accepted' || what === 'cancelled'

/**
 * The conversations, by the line of their attempt. A delivery's last one is stored with the delivery, and earlier
 * ones by their time.
 */
function conversations(
  lines: readonly MailHappening[],
  deliveries: readonly (EndedDelivery | WaitingDelivery)[],
  past: readonly PastAttempt[],
): Map<MailHappening, string> {
  const talks = new Map<MailHappening, string>()
  let left = transcriptChars
  for (const delivery of deliveries) {
    const { transcript: text } = lastSaid(delivery)
    const line = lines.findLast(
      ({ deliveryId, what }) => deliveryId === delivery.id && attempts.has(what),
    )
    // A conversation that is too long is left out; a shorter one after it may still have room.
    if (!text || line === undefined || text.length > left) continue
    left -= text.length
    talks.set(line, text)
  }
  for (const { deliveryId, at, transcript } of past) {
    const line = lines.find(
      (one) => one.deliveryId === deliveryId && one.at === at && one.what === 'deferred',
    )
    if (line === undefined || talks.has(line) || transcript.length > left) continue
    left -= transcript.length
    talks.set(line, transcript)
  }
  return talks
}

// The possible ends of an attempt, by the names of the events.
const attempts: ReadonlySet<string> = new Set([
  'deferred',
  'delivered',
  'relayed',
  'bounced',
  'failed',
])

const words: Partial<Record<MailHappening['what'], string>> = {
  sent: 'first attempt',
  relayed: 'handed to the failover',
}

/** What a refusal means, for people who have not read `bounce-rules.toml`. */
const refusals: Record<string, string> = {
  'bad-mailbox': 'This mailbox does not exist.',
  'bad-domain': 'This domain does not exist, or takes no mail.',
  disabled: 'This mailbox is closed.',
  'mailbox-full': 'This mailbox is full.',
  'recipient-rate': 'This mailbox gets too much mail at the moment.',
  busy: 'The server is busy.',
  throttled: 'The server takes less mail from here for now.',
  blocked: 'The server blocks mail from this address or domain.',
  'sender-authentication': 'SPF, DKIM or DMARC of the sender did not satisfy the server.',
  content: 'The server did not like the content.',
  'too-large': 'The mail is too large for the server.',
  routing: 'The server is not the one for this address.',
  protocol: 'The servers did not understand each other.',
  unreachable: 'The server could not be reached.',
  unknown: 'The server gave no reason that is known.',
}

/** What an event means, in words. */
function meaningIn({ means, bounceClass, isProved, byMachine }: MailHappening): string {
  if (bounceClass !== undefined) return refusals[bounceClass] ?? bounceClass
  if (isProved !== undefined) {
    return isProved
      ? 'The recipient marked it as spam.'
      : 'The recipient is said to have marked it as spam; nothing proves that the report is genuine.'
  }
  // Opens by machines are in brackets in the texts of commands; the page has a mark for them.
  return byMachine ? means : means.replace(/^\[|\]$/g, '')
}

function lineOf(
  happening: MailHappening,
  transcript: string | undefined,
  { now, role }: Pick<Visit, 'now' | 'role'>,
): TimelineLine {
  const { at, what, recipient, reply, means, bounceClass, byMachine } = happening
  return {
    at: moment(at, now),
    exact: `${isoTime(at).slice(0, 23).replace('T', ' ')} UTC`,
    what: words[what] ?? what,
    tone: toneOf(what),
    recipient: recipient ?? undefined,
    reply: reply ?? undefined,
    means: meaningIn(happening),
    rule:
      bounceClass !== undefined && role === 'operator' ? means.replace(/^\[|\]$/g, '') : undefined,
    byMachine,
    transcript,
  }
}
