import {
  type EndedDelivery,
  findDeliveries,
  lastSaid,
  readTranscripts,
  type WaitingDelivery,
} from '../../deliveries/index.js'
import { type EmailRecord, givenFacts, readEmail } from '../../emails/index.js'
import { ApiError } from '../../errors/index.js'
import { uuidForm } from '../../fields/index.js'
import { receivedAnswer } from '../../receiving/index.js'
import type { Read } from '../../store/index.js'
import { suppressionsAmong } from '../../suppression/index.js'
import { type Moment, moment } from '../format.js'
import { lineOf } from '../received/list.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import { command } from '../shell/command-line.js'
import type { Faults } from '../shell/faults.js'
import type { SameBy, Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import type { EmailPageDeps } from './deps.js'
import { historyOf, type TimelineView } from './history.js'
import { type Origin, originOf } from './origin.js'
import { type WaitingView, whyWaits } from './waiting.js'
import { toneOf } from './words.js'

/** One mail's page, as plain values. */
export interface MailView {
  url: string
  base: string
  subject: string
  status: string
  tone: Tone
  facts: { label: string; value: string }[]
  accepted: Moment
  scheduled: Moment | undefined
  tabs: { label: string; href: string; here: boolean }[]
  recipients: RecipientView[]
  /** The copies of a test key's mail. */
  inbox: string | undefined
  waiting: WaitingView[]
  /** How many more deliveries wait than are explained. */
  moreWaiting: number
  held: string | undefined
  warnings: readonly string[]
  timeline: TimelineView
  origin: Origin[]
  /** The answers to it that came in, the newest first. */
  answers: AnswerLine[]
  /** The address of the list of all answers, where there are more. */
  moreAnswers: string | undefined
  actions: ActionsView
  same: SameBy
}

/** One recipient of the mail, and how the delivery to it stands or ended. */
export interface RecipientView {
  address: string
  kind: string
  status: string
  tone: Tone
  attempts: number
  server: string
  /** The address of the conversation with its server, where one was kept. */
  transcript: string | undefined
  others: string
}

// How many waiting deliveries are explained: each costs two look-ups and a question to an outbound thread.
const maxExplained = 5

/** One mail: what happened to it, why it waits, and what can be done. */
export async function showMail(
  deps: EmailPageDeps,
  visit: Visit,
  faults?: Faults,
): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, base, now } = visit
  const id = mailIdOf(visit)
  const email = await readEmail(read, account.id, id)
  // The account was checked by `readEmail`, which throws a 404 for another account's mail.
  const found = await findDeliveries(read, { emailId: id })
  const { waiting, ended } = found
  const quoted = await quotedOf(read, [...ended, ...waiting])
  const explained = waiting.slice(0, maxExplained)
  const url = `${base}/emails/${id}`
  const view: MailView = {
    ...headOf(email, visit, 'timeline'),
    facts: factsOf(email),
    accepted: moment(Date.parse(email.createdAt), now),
    scheduled: email.scheduledAt === null ? undefined : moment(Date.parse(email.scheduledAt), now),
    recipients: email.recipients.map((one) => recipientOf(one, { found, quoted, url, base })),
    inbox: email.test ? `${base}/inbox?${new URLSearchParams({ emailId: id })}` : undefined,
    waiting: await Promise.all(
      explained.map((one) => whyWaits({ read, now, gateOf: deps.gateOf }, one)),
    ),
    moreWaiting: waiting.length - explained.length,
    held: email.held?.reason,
    warnings: email.warnings,
    timeline: await historyOf(read, visit, email, [...ended, ...waiting]),
    origin: await originOf(read, visit, email),
    ...(await answersTo(read, visit, id)),
    actions: await actionsOf(deps, visit, email, waiting),
    same: {
      api: [call(api.emails.getEmail, { of: { id } })],
      cli: [command('email show', { of: [id] }), command('queue show', { of: [id] })],
    },
  }
  return page('emails/mail', view, { title: view.subject, ...(faults && { faults }) })
}

interface AnswerLine {
  href: string
  subject: string
  from: string
  when: Moment
}

const shownAnswers = 10

/** Mail that came in and answers this one. */
async function answersTo(
  read: Read,
  { account, base, now }: Visit,
  emailId: string,
): Promise<Pick<MailView, 'answers' | 'moreAnswers'>> {
  const { received, hasMore } = await receivedAnswer(read, account.id, {
    emailId,
    limit: shownAnswers,
  })
  return {
    answers: received.map((mail) => lineOf(mail, base, now)),
    moreAnswers: hasMore ? `${base}/received?${new URLSearchParams({ emailId })}` : undefined,
  }
}

/** What all four views of a mail have. */
export interface MailHead {
  url: string
  base: string
  subject: string
  status: string
  tone: Tone
  tabs: MailView['tabs']
}

/** What stands above each view of a mail. */
export function headOf(email: EmailRecord, { base }: Visit, here: string): MailHead {
  const url = `${base}/emails/${email.id}`
  const tab = (name: string, label: string, path: string) => ({
    label,
    href: `${url}${path}`,
    here: name === here,
  })
  return {
    url,
    base,
    subject: email.subject || 'No subject',
    status: email.status,
    tone: toneOf(email.status),
    tabs: [
      tab('timeline', 'What happened', ''),
      tab('content', 'Content', '/content'),
      tab('headers', 'Headers', '/headers'),
      tab('json', 'JSON', '/api'),
    ],
  }
}

/** The id of the mail that an address names; throws a 404 for anything that is not an id. */
export function mailIdOf({ params }: Pick<Visit, 'params'>): string {
  const { id = '' } = params
  if (uuidForm.test(id)) return id.toLowerCase()
  throw new ApiError('not_found', 'The account has no email with this id')
}

/** Names and values above the timeline; what a mail does not have is left out. */
function factsOf(email: EmailRecord): MailView['facts'] {
  const facts: [string, string | null][] = [
    ...givenFacts(email),
    ['Message-ID', email.messageId],
    ['Way', email.provider === 'failover' ? 'By a smart host of the failover' : null],
    ['Type', email.type],
    ['Template', email.template],
    ['Attachments', email.attachments.map(({ filename }) => filename).join(', ')],
    ['Opens by people', email.opensCount === 0 ? null : String(email.opensCount)],
    ['Clicks by people', email.clicksCount === 0 ? null : String(email.clicksCount)],
  ]
  return facts.flatMap(([label, value]) => (value ? [{ label, value }] : []))
}

/** A recipient's row, with what is known of its delivery. */
function recipientOf(
  { email: address, kind, status, attempts, held }: EmailRecord['recipients'][number],
  { found, quoted, url, base }: { found: Found; quoted: Quoted; url: string; base: string },
): RecipientView {
  const wait = found.waiting.find(({ recipient }) => recipient === address)
  const end = found.ended.find(({ recipient }) => recipient === address)
  const id = end?.id ?? wait?.id
  const shown = held === null ? status : 'held'
  return {
    address,
    kind,
    attempts,
    status: shown,
    tone: toneOf(shown),
    server: [end?.remote, end?.tls].filter(Boolean).join(', '),
    transcript: id !== undefined && quoted.has(id) ? `${url}/deliveries/${id}` : undefined,
    others: `${base}/emails?${new URLSearchParams({ q: address })}`,
  }
}

/** The mail's deliveries, those that wait and those that ended. */
interface Found {
  waiting: readonly WaitingDelivery[]
  ended: readonly EndedDelivery[]
}

/** The deliveries that have a conversation, of the last attempt or of an earlier one. */
type Quoted = ReadonlySet<number>

// Earlier attempts are read only where the last one talked to no server. One is enough to know that there is a
// conversation: a transcript may be long.
async function quotedOf(
  read: Read,
  deliveries: readonly (EndedDelivery | WaitingDelivery)[],
): Promise<Quoted> {
  const said = await Promise.all(
    deliveries.map(
      async (one) => lastSaid(one).transcript || (await readTranscripts(read, [one.id], 1)).length,
    ),
  )
  return new Set(deliveries.filter((_, i) => said[i]).map(({ id }) => id))
}

/** What this person may do with the mail at this moment; nothing is offered that would be refused. */
interface ActionsView {
  cancel: boolean
  retry: boolean
  /** The address of a new mail with the content of this one. */
  again: string | undefined
  addresses: { address: string; suppressed: string | undefined; page: string }[]
  /** Set when there are too many recipients to offer it for each. */
  suppression: string | undefined
}

// Each recipient has its own form for the suppression, and a page has no room for more forms.
const maxAddresses = 10

/** Which buttons the mail has. The rules are checked again by the actions' own functions when a button is pressed. */
async function actionsOf(
  { store }: Pick<EmailPageDeps, 'store'>,
  { account, may, base }: Visit,
  email: EmailRecord,
  waiting: readonly WaitingDelivery[],
): Promise<ActionsView> {
  const maySend = may('emails.send')
  const addresses = email.recipients.map(({ email }) => email)
  const few = may('suppression.write') && addresses.length <= maxAddresses
  const reasons = few
    ? await suppressionsAmong(store.read, account.id, addresses)
    : new Map<string, Set<string>>()
  // A campaign's content belongs to the campaign; its mails cannot be sent again one by one.
  const hasContent = !email.contentDeleted && email.broadcastId === null
  return {
    cancel: maySend && email.status === 'scheduled',
    retry: maySend && waiting.some(({ attempts, held }) => attempts > 0 && held === null),
    again: maySend && hasContent ? `${base}/emails/new?again=${email.id}` : undefined,
    addresses: (few ? addresses : []).map((address) => ({
      address,
      suppressed: [...(reasons.get(address.toLowerCase()) ?? [])].join(', ') || undefined,
      page: `${base}/suppression/address?${new URLSearchParams({ email: address })}`,
    })),
    suppression: addresses.length > maxAddresses ? `${base}/suppression` : undefined,
  }
}
