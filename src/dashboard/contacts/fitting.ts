import { enums, optional, string, type } from 'superstruct'
import { counted } from '../../amounts/index.js'
import * as operations from '../../contacts/contract.js'
import {
  type BulkOrder,
  bulkDeeds,
  type ContactSearch,
  contactStates,
  exportFitting,
  requireList,
  type SeenNumber,
  seeFitting,
} from '../../contacts/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { file, type PageAnswer, page, redirect } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { SameBy } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import { agreedOf, askChoices } from './ask-choice.js'
import type { ContactPageDeps } from './deps.js'
import { type FieldName, fieldNames, setField } from './set-field.js'

/** What is done with all who fit, before it is done. */
interface FittingView {
  base: string
  title: string
  says: string[]
  button: string
  isDanger: boolean
  what: BulkOrder['do']
  target: string
  /** The list asks people first. */
  asksFirst: boolean
  /** The fields that may be set. */
  own: FieldName[]
  search: Record<string, string>
  /** The number that the page says, and of whom: the form sends it back. */
  seen: string
  back: string
  faults: Faults
  same: SameBy
}

const Order = type({
  do: string(),
  target: optional(string()),
  q: optional(string()),
  list: optional(string()),
  segment: optional(string()),
  state: optional(string()),
  key: optional(string()),
  newKey: optional(string()),
  value: optional(string()),
  note: optional(string()),
  trigger: optional(string()),
  ask: optional(enums(askChoices)),
  /** What the page has said: see `seenIn`. */
  seen: optional(string()),
})

/** What is done with all contacts that fit a filter: a page that says whom it is about, and the task. */
export function fittingPages(pages: AccountPages, deps: ContactPageDeps): void {
  const { read } = deps.store
  const { defaultCountry } = deps.contacts
  const show = (visit: Visit, faults: Faults) => showFitting(deps, visit, faults)
  pages.get('/contacts/fitting', 'contacts.write', (visit) => show(visit, noFaults))

  const doing = { action: 'contacts.write', form: Order, again: show } as const
  pages.post('/contacts/fitting', doing, async ({ account, base, form, person }) => {
    const { trigger, target } = form
    const note = form.note?.trim() || undefined
    if (form.ask === 'once') agreedOf(note)
    const order: BulkOrder = {
      do: deedOf(form.do),
      search: searchOf(new Map(Object.entries(form))),
      target: target || undefined,
      note,
      trigger: trigger !== undefined,
      ...(form.ask !== undefined && { confirm: form.ask === 'first' }),
      by: 'dashboard',
    }
    if (order.do === 'set') Object.assign(order, await setField(read, account.id, form))
    const seen = seenIn(form.seen)
    const id = await deps.bulk.begin(account.id, order, person.id, { seen })
    const detail = { do: order.do, search: order.search, target: order.target, note: order.note }
    const audit = auditOf(operations.changeContacts, { target: String(id), detail })
    return redirect(`${base}/tasks/${id}`, { audit })
  })

  pages.get('/contacts/contacts.csv', 'contacts.read', async ({ account, query }) => {
    const search = searchOf(query)
    const rows = exportFitting(read, account.id, search, defaultCountry)
    const audit = { action: 'contact.export', detail: { ...search } }
    return file(rows, 'text/csv; charset=utf-8', { saveAs: 'contacts.csv', audit })
  })
}

/** The filters of the page of contacts, wherever they stand. Throws a 422 for one that nobody fits: all would. */
export function searchOf(query: { get(name: string): unknown }): ContactSearch {
  const given = (name: string) => String(query.get(name) ?? '').trim() || undefined
  const state = given('state')
  return {
    q: given('q'),
    listId: given('list'),
    segmentId: given('segment'),
    state: state === undefined ? undefined : oneOfThese(contactStates, state, 'state'),
  }
}

const seenText = ({ count, isAll, through }: SeenNumber) => `${count}${isAll ? '' : '+'} ${through}`

/** The number that somebody has agreed to. Throws a 422 where the form does not say it. */
function seenIn(text = ''): SeenNumber {
  const [, count, more, through] = /^(\d{1,15})(\+?) (\S{0,80})$/.exec(text) ?? []
  if (count !== undefined) {
    return { count: Number(count), isAll: more === '', through: through ?? '' }
  }
  const message = 'Nothing is changed yet: look at how many it is about, then say it again'
  throw new ApiError('validation_error', message, { status: 422 })
}

const deedOf = (text: string | undefined): BulkOrder['do'] =>
  oneOfThese(bulkDeeds, text ?? '', 'do')

/** The same as the address of a page has them. */
const filtersOf = ({ q, listId, segmentId, state }: ContactSearch) => ({
  q,
  list: listId,
  segment: segmentId,
  state,
})

/** Throws a 422 for what is none of them. */
function oneOfThese<T extends string>(all: readonly T[], text: string, field: string): T {
  const found = all.find((one) => one === text)
  if (found !== undefined) return found
  const message = `“${text.slice(0, 80)}” is not one of ${all.join(', ')}: choose it on the page of contacts`
  throw new ApiError('validation_error', message, { status: 422, fields: { field } })
}

async function showFitting(
  { store: { read }, contacts: { defaultCountry } }: ContactPageDeps,
  { account, base, query, fields }: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const typed = fields.get('do') === undefined ? query : fields
  const search = searchOf(typed)
  const what = deedOf(typed.get('do') ?? undefined)
  const target = typed.get('target') ?? ''
  const seen = await seeFitting(read, account.id, search, defaultCountry)
  const { count, isAll } = seen
  const people = isAll ? counted(count, 'contact') : `more than ${counted(count, 'contact')}`
  const isOfList = what === 'add' || what === 'remove'
  const { name: list, doubleOptIn } = isOfList
    ? await requireList(read, account.id, target)
    : { name: '', doubleOptIn: false }
  const filters = Object.fromEntries(
    Object.entries(filtersOf(search)).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  )
  const isWhole = Object.keys(filters).length === 0
  const view: FittingView = {
    base,
    ...wordsOf[what](people, list),
    what,
    target,
    asksFirst: doubleOptIn && what === 'add',
    own: what === 'set' ? await fieldNames(read, account.id) : [],
    search: filters,
    seen: seenText(seen),
    back: `${base}/contacts?${new URLSearchParams(filters)}`,
    faults,
    same: {
      api: [
        call(api.contacts.changeContacts, {
          body: {
            do: what,
            ...filters,
            ...(isWhole && { all: true }),
            ...(list !== '' && { target }),
            ...(what === 'set' && { metadata: { town: 'Lagos' } }),
            ...(what === 'unsubscribe' && { note: 'asked by phone' }),
          },
        }),
      ],
    },
  }
  if (isWhole) view.says.unshift('No filter is chosen: this is about all contacts of the account.')
  return page('contacts/fitting', view, { title: view.title })
}

type Words = Pick<FittingView, 'title' | 'says' | 'button' | 'isDanger'>

/** What each of them does, for who is about to do it. */
export const wordsOf: Record<BulkOrder['do'], (people: string, list: string) => Words> = {
  add: (people, list) => ({
    title: `Add ${people} to “${list}”?`,
    says: ['Who unsubscribed, bounced or complained gets no marketing mail by it.'],
    button: `Add to “${list}”`,
    isDanger: false,
  }),
  remove: (people, list) => ({
    title: `Take ${people} off “${list}”?`,
    says: ['Whoever is on no other list is deleted for good.'],
    button: `Take off “${list}”`,
    isDanger: true,
  }),
  set: (people) => ({
    title: `Set a field of ${people}?`,
    says: ['What stood in the field before is replaced and does not come back.'],
    button: 'Set the field',
    isDanger: false,
  }),
  unsubscribe: (people) => ({
    title: `Unsubscribe ${people}?`,
    says: ['They get no marketing mail from now on. Receipts and the like go on.'],
    button: `Unsubscribe ${people}`,
    isDanger: true,
  }),
  delete: (people) => ({
    title: `Delete ${people}?`,
    says: [
      'Their fields and their places on lists go for good. Automations that they are in end for them.',
      'Who unsubscribed, bounced or complained stays so, and so does the consent record. Mails that they got stay in the log.',
    ],
    button: `Delete ${people}`,
    isDanger: true,
  }),
}
