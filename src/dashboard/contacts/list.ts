import { shownCount } from '../../amounts/index.js'
import {
  type ContactState,
  contactStates,
  findContacts,
  knownNumber,
  listsOfContacts,
} from '../../contacts/index.js'
import { listSegments } from '../../segments/index.js'
import { listed, type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import { command } from '../shell/command-line.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { namedOptions } from '../shell/named-options.js'
import type { SameBy, Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import { runningNow } from '../tasks/routes.js'
import type { ContactPageDeps } from './deps.js'
import { type ListChoice, listChoices, listNamed } from './lists.js'
import { fullName, mailChip } from './words.js'

/** One page of the contacts that fit. */
interface ContactsView {
  base: string
  accountId: string
  mayWrite: boolean
  search: string
  selects: { name: string; label: string; value: string; options: ListChoice[] }[]
  /** How many of the selects choose something. */
  filtered: number
  isFiltered: boolean
  /** How many fit, where that is known without counting them. */
  fits: string | undefined
  rows: ContactLine[]
  /** The page ended before it was full: few of those that were looked at fit. */
  isShort: boolean
  /** Lists for what is done with those who are ticked. */
  lists: ListChoice[]
  /** The filters, as an address has them, with a `?`. */
  query: string
  /** Where all of the page are ticked, or none any more. */
  tickAll: string
  isAllTicked: boolean
  first: string | undefined
  next: string | undefined
  /** The filters, as fields of a form. */
  filters: [string, string][]
  running: { title: string; href: string; isPaused: boolean }[]
  csv: string
  same: SameBy
  faults: Faults
}

interface ContactLine {
  id: string
  href: string
  email: string
  name: string
  lists: string
  chip: { text: string; tone: Tone }
  added: Moment
  isTicked: boolean
}

// With the longest addresses no more than the first of these fit into the bytes that a page may have.
const pageSizes = [40, 50, 100] as const
// How many names of lists a row has room for.
const listsShown = 3

/** What each state is called, for who chooses one. */
const stateWords: Readonly<Record<ContactState, string>> = {
  mailable: 'Gets marketing mail',
  unsubscribed: 'Unsubscribed',
  bounced: 'Bounced',
  complained: 'Complained',
  suppressed: 'Suppressed by hand, or erased',
  erased: 'Erased on request, added again',
}

/** An account's contacts: those who fit what was typed and chosen. */
export async function showContacts(
  { store, contacts: { defaultCountry } }: ContactPageDeps,
  visit: Visit,
  faults: Faults = noFaults,
): Promise<PageAnswer> {
  const { account, base, query, now } = visit
  const { read } = store
  const q = (query.get('q') ?? '').trim()
  const listId = query.get('list') || undefined
  const segmentId = query.get('segment') || undefined
  const state = contactStates.find((one) => one === query.get('state'))
  const newest = query.get('sort') === 'newest'
  const cursor = query.get('after') || undefined
  const pageSize = pageSizes.find((size) => String(size) === query.get('rows')) ?? pageSizes[0]
  const search = { q: q === '' ? undefined : q, listId, segmentId, state }
  const { members, nextCursor } = await findContacts(
    read,
    account.id,
    { ...search, newest },
    { limit: pageSize, cursor, defaultCountry },
  )
  const isWhole = cursor === undefined && nextCursor === null
  const fits = isWhole ? members.length : await knownNumber(read, account.id, search)
  const chosen = await listNamed(read, account.id, listId)
  const lists = await listChoices(read, account.id, chosen)
  const segments = namedOptions(await listSegments(read, account.id))
  const theirs = await listsOfContacts(
    read,
    members.map(({ id }) => id),
  )
  const filters = new URLSearchParams({
    ...(q !== '' && { q }),
    ...(listId !== undefined && { list: listId }),
    ...(segmentId !== undefined && { segment: segmentId }),
    ...(state !== undefined && { state }),
  })
  const at = (more: Record<string, string>) => {
    const look: [string, string][] = []
    if (newest) look.push(['sort', 'newest'])
    if (pageSize !== pageSizes[0]) look.push(['rows', String(pageSize)])
    const all = new URLSearchParams([...filters, ...look, ...Object.entries(more)]).toString()
    return all === '' ? '' : `?${all}`
  }
  const ticked = new Set([faults.values.ids ?? []].flat())
  const place: Record<string, string> = cursor === undefined ? {} : { after: cursor }
  const isAllTicked = query.get('tick') === 'page'
  const view: ContactsView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('contacts.write'),
    search: q,
    selects: selectsOf({ lists, segments }, { listId, segmentId, state, newest, pageSize }),
    filtered: chosen.length + [segmentId, state].filter((one) => one !== undefined).length,
    isFiltered: filters.size > 0,
    fits: fits === undefined ? undefined : shownCount(fits),
    rows: members.map((member) => ({
      id: member.id,
      href: `${base}/contacts/${member.id}`,
      email: member.email,
      name: fullName(member),
      lists: listed(
        (theirs.get(member.id) ?? []).map(({ name }) => name),
        listsShown,
      ),
      chip: mailChip(member),
      added: moment(member.createdAt, now),
      isTicked: isAllTicked || ticked.has(member.id),
    })),
    isShort: nextCursor !== null && members.length < pageSize,
    lists,
    query: at(place),
    tickAll: `${base}/contacts${at(isAllTicked ? place : { ...place, tick: 'page' })}`,
    isAllTicked,
    first: cursor === undefined ? undefined : `${base}/contacts${at({})}`,
    next: nextCursor === null ? undefined : `${base}/contacts${at({ after: nextCursor })}`,
    filters: [...filters],
    running: await runningNow({ store }, visit),
    csv:
      listId !== undefined && filters.size === 1
        ? `${base}/lists/${listId}/contacts.csv`
        : `${base}/contacts/contacts.csv${at({})}`,
    same: sameBy(account.id, filters, newest),
    faults,
  }
  return page('contacts/list', view, { title: 'Contacts', wide: true })
}

/** What the page is filtered and ordered by, and how long it is. */
function selectsOf(
  { lists, segments }: Record<'lists' | 'segments', ListChoice[]>,
  chosen: {
    listId: string | undefined
    segmentId: string | undefined
    state: ContactState | undefined
    newest: boolean
    pageSize: number
  },
): ContactsView['selects'] {
  const { listId, segmentId, state, newest, pageSize } = chosen
  return [
    {
      name: 'list',
      label: 'List',
      value: listId ?? '',
      options: [{ value: '', label: 'Any' }, ...lists],
    },
    ...(segments.length === 0
      ? []
      : [
          {
            name: 'segment',
            label: 'Segment',
            value: segmentId ?? '',
            options: [{ value: '', label: 'Any' }, ...segments],
          },
        ]),
    {
      name: 'state',
      label: 'Marketing mail',
      value: state ?? '',
      options: [
        { value: '', label: 'Any' },
        ...contactStates.map((one) => ({ value: one, label: stateWords[one] })),
      ],
    },
    {
      name: 'sort',
      label: 'Order',
      value: newest ? 'newest' : '',
      options: [
        { value: '', label: 'By address' },
        { value: 'newest', label: 'Newest first' },
      ],
    },
    {
      name: 'rows',
      label: 'Rows on a page',
      value: String(pageSize),
      options: pageSizes.map((size) => ({ value: String(size), label: String(size) })),
    },
  ]
}

/** The search of the page, written as a request to the API and as a command. */
function sameBy(accountId: string, filters: URLSearchParams, newest: boolean) {
  const query = new URLSearchParams(filters)
  if (newest) query.set('sort', 'newest')
  const { q, ...options } = Object.fromEntries(filters)
  return {
    api: [call(api.contacts.findContacts, { query })],
    cli: [
      command('contact list', {
        of: q === undefined ? [] : [q],
        ...options,
        newest,
        account: accountId,
      }),
    ],
  }
}
