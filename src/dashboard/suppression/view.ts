import { isoDay, shownFor } from '../../clock/index.js'
import type { ConsentEvent } from '../../consent/index.js'
import { leaveWords } from '../../preferences/index.js'
import type { Suppression } from '../../suppression/index.js'
import { type Moment, moment } from '../format.js'
import type { Tone } from '../shell/parts.js'

/** A record as its pages show it. */
export interface SuppressionView {
  email: string
  /** The page that says why. */
  page: string
  reason: Suppression['reason']
  chip: { text: string; tone: Tone }
  blocks: string
  since: Moment
  until: string | undefined
  detail: string
}

/** Why an address is suppressed, in a word and a colour. */
export const reasonChips: Readonly<Record<Suppression['reason'], SuppressionView['chip']>> = {
  bounce: { text: 'bounced', tone: 'bad' },
  complaint: { text: 'complained', tone: 'bad' },
  unsubscribe: { text: 'unsubscribed', tone: 'doubt' },
  manual: { text: 'by hand', tone: 'none' },
}

/** The page of an address. The query has it, as an address may contain a slash. */
export const addressPage = (base: string, email: string) =>
  `${base}/suppression/address?email=${encodeURIComponent(email)}`

/** A record as a row; `until` is the day on which it ends, UTC. */
export function suppressionView(record: Suppression, base: string, now: number): SuppressionView {
  const { email, reason, scope, detail, createdAt, expiresAt } = record
  return {
    email,
    reason,
    page: addressPage(base, email),
    chip: reasonChips[reason],
    blocks: scope === 'all' ? 'all mail' : 'marketing',
    since: moment(createdAt, now),
    until: expiresAt === null ? undefined : isoDay(expiresAt),
    detail: detail ?? '',
  }
}

/** The reasons, for whoever chooses one. */
export const reasonChoices = [
  { value: 'manual', label: 'By hand: they asked for it, or somebody decided it' },
  { value: 'unsubscribe', label: 'Unsubscribed: no marketing, but receipts and the like' },
  { value: 'bounce', label: 'Bounced: the address does not take mail' },
  { value: 'complaint', label: 'Complained: called mail spam' },
]

/** How much mail is held back, for whoever chooses. */
export const scopeChoices = [
  { value: '', label: 'What the reason calls for' },
  { value: 'all', label: 'All mail' },
  { value: 'marketing', label: 'Marketing alone' },
]

// How much of a reply an event of the history shows; the record has all of it.
const longestNote = 200

const kinds: Readonly<Record<ConsentEvent['kind'], string>> = {
  added: 'Added',
  imported: 'Imported to a list',
  confirmed: 'Confirmed by mail',
  signed_up: 'Signed up by a form, without a confirmation',
  unsubscribed: 'Unsubscribed',
  bounced: 'Bounced',
  complained: 'Complained',
  suppressed: 'Suppressed by hand',
  left_topic: 'Left a topic',
  returned_to_topic: 'Came back to a topic',
  said_why: 'Said why they left',
  changed_fields: 'Changed what is known of them',
  lifted: 'May be mailed again: taken off the suppression list',
}

/** An event of the consent log as a sentence. */
export function happeningText(
  { kind, at, detail }: ConsentEvent,
  topics: ReadonlyMap<string, string> = new Map(),
): string {
  const { by, file, line, note, reasons, fields, page, address, askedAt } = detail
  const topic = detail.topicId === undefined ? undefined : topics.get(detail.topicId)
  const where = [
    ...(page ? [`on ${page}`] : []),
    ...(address ? [`from the network ${address}`] : []),
    ...(askedAt === undefined ? [] : [`asked for ${shownFor(at - askedAt)} before`]),
  ]
  const what = [
    topic === undefined ? kinds[kind] : `${kinds[kind].replace('a topic', 'the topic')} “${topic}”`,
    ...(reasons === undefined
      ? []
      : [`(${reasons.map((one) => leaveWords[one] ?? one).join(', ')})`]),
    ...(fields === undefined ? [] : [`(${fields.join(', ')})`]),
    ...(file === undefined ? [] : [`from ${file}`]),
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(by === undefined ? [] : [`by ${sayers[by] ?? by}`]),
  ].join(' ')
  const told = [what, ...where].join(', ')
  return note === undefined ? told : `${told} – ${note.slice(0, longestNote)}`
}

/** Plain names for those who said it. */
export const sayers: Readonly<Record<string, string>> = {
  recipient: 'themselves',
  server: "the recipient's server",
  operator: 'an operator of this server',
  api: 'your program (API)',
  form: 'a form of yours',
  erasure: 'an erasure',
  dashboard: 'somebody of your team',
  command: 'a command on the server',
  time: 'itself, as its time was over',
}
