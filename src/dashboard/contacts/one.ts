import { counted } from '../../amounts/index.js'
import {
  type ContactEngagement,
  contactHistory,
  engagementOf,
  listsOfContacts,
  requireContact,
  whatDeletionTakes,
  whyMail,
} from '../../contacts/index.js'
import { listEmails } from '../../emails/index.js'
import { ApiError } from '../../errors/index.js'
import { knownFields } from '../../forms/index.js'
import { addressKey } from '../../mime/index.js'
import { segmentsOfContact } from '../../segments/index.js'
import { listTopics } from '../../topics/index.js'
import { toneOf } from '../emails/words.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import { command } from '../shell/command-line.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import type { SameBy, Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import { happeningText } from '../suppression/view.js'
import type { ContactPageDeps } from './deps.js'
import { showGone } from './gone.js'
import { type ContactEventView, eventsOf, type LiveRunView, liveRunsOf, startable } from './life.js'
import { listChoices, onOlderLists } from './lists.js'
import { fieldRows, type OwnFieldRow } from './own-fields.js'
import { type PersonValues, shownBefore, staleFields, valuesOf } from './stored-now.js'
import { type WhyRow, whyView } from './why-view.js'
import { fullName } from './words.js'

/** One person's page, as plain values. */
interface ContactView {
  base: string
  /** What is said of lists that are not offered; empty: all are. */
  older: string
  accountId: string
  id: string
  here: string
  email: string
  says: string
  name: string
  added: Moment
  mayWrite: boolean
  maySuppress: boolean
  sendHref: string | undefined
  why: WhyRow[]
  /** They unsubscribed, which may be taken back with a note; undefined: they did not. */
  isUnsubscribed: boolean
  /** A bounce, a complaint or a suppression by hand: its page says what may be done. */
  suppressionHref: string | undefined
  values: PersonValues
  /** What the page showed of them when it was first open, which the form sends back. */
  was: PersonValues
  own: OwnFieldRow[]
  /** How many more fields there are. */
  ownLeft: number
  lists: { value: string; label: string }[]
  /** One of them asks people first. */
  asksFirst: boolean
  onLists: string[]
  segments: { page: string; name: string }[]
  /** What became of mail to them, in words. */
  engagement: { label: string; value: string; at: Moment | undefined }[]
  mails: { href: string; subject: string; status: string; tone: Tone; at: Moment }[]
  moreMails: string | undefined
  runs: LiveRunView[]
  /** Automations that may be started for them by hand. */
  startable: { value: string; label: string }[]
  events: ContactEventView[]
  history: { at: Moment; text: string; mail: string | undefined }[]
  /** What a deletion takes along, in a sentence. */
  deletion: string
  /** Somebody else has changed the fields that were sent. */
  stale: Html | undefined
  openedAt: string
  faults: Faults
  same: SameBy
}

const mailsShown = 10
const mostLooked = 1_000
// A person's record grows by a few rows a year; the last ones say most.
const mostHistory = 100

/** All that is known of somebody, why mail goes to them or not, and what can be done. */
export async function showContact(
  { store: { read } }: ContactPageDeps,
  visit: Visit,
  faults: Faults = noFaults,
): Promise<PageAnswer> {
  const { account, base, now } = visit
  const contact = await requireContact(read, account.id, visit.params.id ?? '').catch((error) => {
    if (faults === noFaults || !isNotFound(error)) throw error
    return undefined
  })
  if (contact === undefined) return showGone(visit)
  const { id, email } = contact
  const [why, mails, history, taken, runs, events, theirs, engagement] = await Promise.all([
    whyMail(read, account.id, email),
    listEmails(
      read,
      account.id,
      { to: addressKey(email) },
      { limit: mailsShown, most: mostLooked },
    ),
    contactHistory(read, account.id, email),
    whatDeletionTakes(read, account.id, id),
    liveRunsOf(read, id, now),
    eventsOf(read, id, now),
    listsOfContacts(read, [id]).then((lists) => lists.get(id) ?? []),
    engagementOf(read, id),
  ])
  const topics = await listTopics(read, account.id, { archived: true })
  const topicNames = new Map(topics.map(({ id: topicId, name }) => [topicId, name]))
  const described = await knownFields(read, account.id, contact.metadata)
  const typed = faults === noFaults ? undefined : visit.fields
  const own = fieldRows(contact.metadata, described, typed)
  const reasons = new Set(why.marketing.gets ? [] : why.marketing.because.map(({ kind }) => kind))
  const log = `${base}/emails?${new URLSearchParams({ q: email })}`
  const shown = await listChoices(read, account.id, theirs)
  const view: ContactView = {
    base,
    older: onOlderLists(shown),
    accountId: account.id,
    id,
    here: `${base}/contacts/${id}`,
    email,
    says: why.says,
    name: fullName(contact),
    added: moment(contact.createdAt, now),
    mayWrite: visit.may('contacts.write'),
    maySuppress: visit.may('suppression.write'),
    sendHref: visit.may('emails.send')
      ? `${base}/emails/new?${new URLSearchParams({ to: email })}`
      : undefined,
    why: whyView(why, base, now),
    isUnsubscribed: reasons.has('unsubscribed'),
    suppressionHref: ['bounced', 'complained', 'suppressed'].some((kind) =>
      reasons.has(kind as never),
    )
      ? `${base}/suppression/address?${new URLSearchParams({ email })}`
      : undefined,
    values: valuesOf(contact),
    was: shownBefore(valuesOf(contact), typed),
    stale: typed && (await staleFields(read, visit, contact, described)),
    own: own.rows,
    ownLeft: own.left,
    lists: shown.map(({ value, label, asksFirst }) => ({
      value,
      label: asksFirst ? `${label} (asks people first)` : label,
    })),
    asksFirst: shown.some(({ asksFirst }) => asksFirst),
    onLists: theirs.map((list) => list.id),
    segments: (await segmentsOfContact(read, account.id, id)).map((one) => ({
      page: `${base}/segments/${one.id}`,
      name: one.name,
    })),
    engagement: engagementView(engagement, now),
    mails: mails.emails.map((mail) => ({
      href: `${base}/emails/${mail.id}`,
      subject: mail.subject || 'No subject',
      status: mail.status,
      tone: toneOf(mail.status),
      at: moment(Date.parse(mail.createdAt), now),
    })),
    moreMails: mails.next === undefined ? undefined : log,
    runs,
    startable: visit.may('automations.write') ? await startable(read, account.id) : [],
    events,
    history: history
      .slice(-mostHistory)
      .reverse()
      .map((event) => ({
        at: moment(event.at, now),
        text: happeningText(event, topicNames),
        mail: event.detail.emailId && `${base}/emails/${event.detail.emailId}`,
      })),
    deletion: deletionOf(taken),
    openedAt: typed?.get('openedAt') ?? String(now),
    faults,
    same: {
      api: [
        call(api.contacts.getContact, { of: { id } }),
        call(api.updateContact, {
          of: { id },
          body: { firstName: 'Ada', metadata: { town: 'Lagos' } },
        }),
      ],
      cli: [
        command('contact show', { of: [id], account: account.id }),
        command('contact set', { of: [id], firstName: 'Ada', account: account.id }),
      ],
    },
  }
  return page('contacts/one', view, { title: email })
}

const isNotFound = (error: unknown) => error instanceof ApiError && error.code === 'not_found'

const engagementView = (of: ContactEngagement, now: number) =>
  [
    { label: 'Marketing mail sent', value: counted(of.sent, 'mail'), last: of.lastSentAt },
    { label: 'Opened', value: counted(of.opened, 'mail'), last: of.lastOpenedAt },
    { label: 'Clicked in', value: counted(of.clicked, 'mail'), last: of.lastClickedAt },
  ].map(({ last, ...more }) => ({ ...more, at: last === null ? undefined : moment(last, now) }))

const deletionOf = ({ lists, runs }: { lists: number; runs: number }) =>
  [
    `Their fields and their places on ${lists} ${lists === 1 ? 'list' : 'lists'} go for good`,
    ...(runs > 0 ? [`${runs} ${runs === 1 ? 'automation' : 'automations'} they are in end`] : []),
    'That they unsubscribed, bounced or complained stays known, and so do mails in the log.',
  ].join('. ')
