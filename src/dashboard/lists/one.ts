import { audienceUses } from '../../broadcasts/index.js'
import { dayMs } from '../../clock/index.js'
import * as operations from '../../contacts/contract.js'
import {
  type ContactList,
  type ListDay,
  listDays,
  listMembers,
  requireList,
} from '../../contacts/index.js'
import { listForms } from '../../forms/index.js'
import type { Form } from '../../http/index.js'
import { segmentsAskingFor } from '../../segments/index.js'
import type { Read } from '../../store/index.js'
import { fullName, mailChip } from '../contacts/words.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Chart } from '../shell/chart.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import type { AccountPages } from '../shell/page.js'
import { markOf, markPart, type StoredNow } from '../shell/stale.js'
import type { Visit } from '../shell/visit.js'
import type { ListPageDeps } from './deps.js'

/** A list: how it grows, what uses it, and a page of who is on it. */
interface OneListView {
  base: string
  accountId: string
  mayWrite: boolean
  list: ContactList
  page: string
  made: Moment
  chart: Chart
  joined: number
  gone: number
  uses: string[]
  /** The address that is looked for. */
  email: string
  members: {
    email: string
    name: string
    page: string
    /** Whether they get mail, and why not. */
    chip: ReturnType<typeof mailChip>
    since: Moment
  }[]
  newer: string | undefined
  older: string | undefined
  /** What its form was filled with. */
  mark: Html
  faults: Faults
}

/** Of what the form about a list is filled with. */
export const markOfList = ({ name, doubleOptIn }: ContactList): string =>
  markOf([name, doubleOptIn])

/** What is stored of a list otherwise than it was sent. */
const storedNow = ({ name, doubleOptIn }: ContactList, sent: Form): StoredNow[] => [
  ...(sent.get('name')?.trim() === name ? [] : [{ label: 'Name', value: name }]),
  ...((sent.get('doubleOptIn') !== undefined) === doubleOptIn
    ? []
    : [{ label: 'Double opt-in', value: doubleOptIn ? 'wanted' : 'not wanted' }]),
]

const pageSize = 50
const weeks = operations.listedDays / 7
const dayLabel = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
})

const weekLabel = (day: ListDay | undefined) => dayLabel.format((day?.day ?? 0) * dayMs)

/** The page of one list. Throws a 404. */
export async function showList(
  { store: { read } }: ListPageDeps,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { account, base, params, query, now } = visit
  const list = await requireList(read, account.id, params.id ?? '')
  const email = query.get('email')?.trim() ?? ''
  const cursor = query.get('after') ?? undefined
  const asked = { limit: pageSize, cursor, ...(email !== '' && { email }) }
  const { members, nextCursor } = await listMembers(read, account.id, list.id, asked)
  const days = await listDays(read, list.id, { days: weeks * 7, now })
  const sums = (of: 'joined' | 'gone') =>
    Array.from({ length: weeks }, (_, week) =>
      days.slice(week * 7, week * 7 + 7).reduce((sum, day) => sum + day[of], 0),
    )
  const [joined, gone] = [sums('joined'), sums('gone')]
  const here = `${base}/lists/${list.id}`
  const view: OneListView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('contacts.write'),
    list,
    page: here,
    made: moment(list.createdAt, now),
    chart: {
      title: 'Who joined and left, by week',
      labels: joined.map((_, week) => {
        const [first, last] = [days[week * 7], days[week * 7 + 6]]
        return `${weekLabel(first)} to ${weekLabel(last)}`
      }),
      series: [
        { label: 'Joined', tone: 'c1', values: joined },
        { label: 'Left', tone: 'c3', values: gone },
      ],
    },
    joined: joined.reduce((sum, one) => sum + one, 0),
    gone: gone.reduce((sum, one) => sum + one, 0),
    uses: await usesOf(read, account.id, list.id),
    email,
    members: members.map((member) => ({
      email: member.email,
      name: fullName(member),
      page: `${base}/contacts/${member.id}`,
      chip: mailChip(member),
      since: moment(member.createdAt, now),
    })),
    newer: cursor === undefined ? undefined : here,
    older: nextCursor === null ? undefined : `${here}?after=${nextCursor}`,
    mark: await markPart(read, visit, {
      target: list.id,
      mark: markOfList(list),
      page: here,
      now: () => storedNow(list, visit.fields),
    }),
    faults,
  }
  return page('lists/one', view, { title: list.name })
}

/** What names the list: automations, campaigns that are still to go, segments, and forms in use. */
export async function usesOf(read: Read, accountId: string, listId: string): Promise<string[]> {
  const segments = await segmentsAskingFor(read, accountId, listId, 'list')
  const others = [...segments, ...(await audienceUses(read, accountId, listId))]
  const forms = (await listForms(read, accountId)).filter(
    ({ archivedAt, settings }) =>
      archivedAt === null && settings.lists.some((id) => id.toLowerCase() === listId),
  )
  return [
    ...others.map(({ name, kind = 'automation' }) => `${kind} “${name}”`),
    ...forms.map(({ name }) => `form “${name}”`),
  ]
}

/** One list, and who is on it. */
export function oneListPages(pages: AccountPages, deps: ListPageDeps): void {
  pages.get('/lists/:id', 'contacts.read', (visit) => showList(deps, visit, noFaults))
}
