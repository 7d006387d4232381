import type { Plans } from '../../billing/index.js'
import { isoTime } from '../../clock/index.js'
import { uuidForm } from '../../fields/index.js'
import {
  listRules,
  notForwarded,
  type ReceivedMailSummary,
  receivedAnswer,
  receivedStates,
  refusedLately,
} from '../../receiving/index.js'
import type { Store } from '../../store/index.js'
import { type Moment, moment } from '../format.js'
import { page } from '../shell/answer.js'
import { type BesidePages, listOf } from '../shell/listing.js'
import type { AccountPages } from '../shell/page.js'
import type { Tone } from '../shell/parts.js'
import { ranges } from '../shell/time-ranges.js'
import { refusedSentence } from './refused.js'

/** What the pages of received mail need. */
export interface ReceivedPageDeps {
  store: Store
  plans: Plans
}

interface MailLine {
  href: string
  subject: string
  from: string
  to: string
  when: Moment
  state: { text: string; tone: Tone }
  /** Why it was not sent on. */
  notSentOn: string | undefined
}

interface ReceivedView extends BesidePages {
  base: string
  accountId: string
  recipient: string
  from: string
  selects: {
    name: string
    label: string
    value: string
    options: { value: string; label: string }[]
  }[]
  isFiltered: boolean
  refused: string[]
  mails: MailLine[]
}

const pageSize = 50
const stateWords = { reading: 'Being read', read: 'Read', unreadable: 'Cannot be read' }

const idIn = (text: string | undefined) =>
  text !== undefined && uuidForm.test(text) ? text.toLowerCase() : undefined

/** `/received`: mail that came in, the newest first, by what people know of it. */
export function receivedListPage(pages: AccountPages, { store }: ReceivedPageDeps): void {
  const { read } = store
  pages.get('/received', 'emails.read', async ({ account, base, query, now }) => {
    const typed = (name: string) => query.get(name)?.trim() || undefined
    const range = ranges.find(({ value }) => value === query.get('range')) ?? ranges[0]
    const filters = {
      recipient: typed('recipient'),
      from: typed('from'),
      emailId: idIn(typed('emailId')),
      ruleId: idIn(typed('ruleId')),
      state: receivedStates.find((one) => one === query.get('state')),
      range: range.value || undefined,
    }
    // Each page of a list begins and ends at the same time.
    const since = range.ms === undefined ? undefined : (typed('since') ?? isoTime(now - range.ms))
    const listing = { path: `${base}/received`, query, filters: { ...filters, since } }
    const { rows, ...beside } = await listOf(listing, async (cursor) => {
      const { range: _, ...given } = filters
      const asked = { ...given, receivedAfter: since, cursor, limit: pageSize }
      const { received, nextCursor } = await receivedAnswer(read, account.id, asked)
      return { page: received, nextCursor }
    })
    const failed = await notForwarded(
      read,
      account.id,
      rows.map(({ id }) => id),
    )
    const rules = await listRules(read, account.id)
    const known = rules.map(({ id, place, pattern }) => ({
      value: id,
      label: `${place}: ${pattern}`,
    }))
    const gone =
      filters.ruleId !== undefined && !known.some(({ value }) => value === filters.ruleId)
    const any = { value: '', label: 'Any' }
    const view: ReceivedView = {
      base,
      accountId: account.id,
      recipient: filters.recipient ?? '',
      from: filters.from ?? '',
      selects: [
        {
          name: 'ruleId',
          label: 'Rule',
          value: filters.ruleId ?? '',
          options: [
            any,
            ...known,
            ...(gone ? [{ value: filters.ruleId ?? '', label: 'one that was deleted' }] : []),
          ],
        },
        {
          name: 'state',
          label: 'State',
          value: filters.state ?? '',
          options: [any, ...receivedStates.map((value) => ({ value, label: stateWords[value] }))],
        },
        {
          name: 'range',
          label: 'Came in',
          value: range.value,
          options: ranges.map(({ value, label }) => ({ value, label })),
        },
      ],
      isFiltered: Object.values(filters).some((value) => value !== undefined),
      refused: (await refusedLately(read, account.id, now)).map(refusedSentence),
      mails: rows.map((mail) => ({ ...lineOf(mail, base, now), notSentOn: failed.get(mail.id) })),
      ...beside,
    }
    return page('received/list', view, { title: 'Received mail', wide: true })
  })
}

/** Whatever its sender has written takes about two lines of a list; its own page has all of it. */
export const clipped = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most).trimEnd()}…` : text

/** A mail that came in as a line of a list. */
export const lineOf = (
  mail: ReceivedMailSummary,
  base: string,
  now: number,
): Omit<MailLine, 'notSentOn'> => ({
  href: `${base}/received/${mail.id}`,
  subject: clipped(mail.subject, 150) || '(no subject)',
  from: clipped(mail.from || mail.envelopeFrom, 100),
  to: mail.recipient,
  when: moment(Date.parse(mail.receivedAt), now),
  state: stateOf(mail),
})

/** How a mail stands, in a word and a colour. */
export function stateOf({ state, checks }: Pick<ReceivedMailSummary, 'state' | 'checks'>): {
  text: string
  tone: Tone
} {
  if (state === 'reading') return { text: 'being read', tone: 'none' }
  if (state === 'unreadable') return { text: 'cannot be read', tone: 'bad' }
  if (checks?.dmarc === 'pass') return { text: 'sender proved', tone: 'good' }
  if (checks?.dmarc === 'fail') return { text: 'sender forged', tone: 'bad' }
  return { text: 'sender not proved', tone: 'doubt' }
}
