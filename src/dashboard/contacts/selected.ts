import { array, enums, optional, string, type } from 'superstruct'
import { counted } from '../../amounts/index.js'
import { checkOpen, readBilling } from '../../billing/index.js'
import * as operations from '../../contacts/contract.js'
import {
  askSome,
  bulkDeeds,
  changeSome,
  contactsAmong,
  deleteContacts,
  listsOfContacts,
  mostAtOnce,
  putOnList,
  requireList,
  takeOffList,
} from '../../contacts/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { page, redirect } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import { command } from '../shell/command-line.js'
import type { Faults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { SameBy } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import { agreedOf, askChoices, askedWords } from './ask-choice.js'
import type { ContactPageDeps } from './deps.js'
import { wordsOf } from './fitting.js'
import { showContacts } from './list.js'
import { type FieldName, fieldNames, setField } from './set-field.js'

/** What is done with those who are ticked, before it is done. */
interface SelectedView {
  base: string
  accountId: string
  title: string
  says: string[]
  button: string
  isDanger: boolean
  what: string
  list: string
  ids: string[]
  emails: string[]
  /** Asked where somebody joins a list. */
  asksTrigger: boolean
  /** The list asks people first. */
  asksFirst: boolean
  /** The fields that may be set. */
  own: FieldName[]
  back: string
  /** The search and the filters of the page where they were ticked, with a `?`. */
  query: string
  faults: Faults
  same: SameBy
}

const Chosen = type({
  do: enums(bulkDeeds),
  list: optional(string()),
  ids: array(string()),
  trigger: optional(string()),
  key: optional(string()),
  newKey: optional(string()),
  value: optional(string()),
  note: optional(string()),
  ask: optional(enums(askChoices)),
})
type Chosen = (typeof Chosen)['TYPE']

/** What is done with several contacts: a page that says what goes, and the deed. */
export function selectedPages(pages: AccountPages, deps: ContactPageDeps): void {
  const { read } = deps.store
  const list = (visit: Visit, faults: Faults) => showContacts(deps, visit, faults)
  const asking = { action: 'contacts.write', form: Chosen, reads: true, again: list } as const
  pages.post('/contacts/selected', asking, async (visit) => {
    const view = await selectedView(deps, visit, visit.form)
    return page('contacts/selected', view, { title: view.title })
  })

  // A field that is missing is asked for where it was to be typed.
  const again = async (visit: Visit, faults: Faults) => {
    const asked = asksFields.find((one) => one === visit.fields.get('do'))
    const chosen = visit.fields.all('ids')
    const target = visit.fields.get('list')
    const isWhole = chosen.length > 0 && (asked !== 'add' || target)
    if (asked === undefined || !isWhole) return await list(visit, faults)
    const view = await selectedView(deps, visit, { do: asked, list: target, ids: chosen })
    return page('contacts/selected', { ...view, faults }, { title: view.title })
  }
  const doing = { action: 'contacts.write', form: Chosen, again } as const
  pages.post('/contacts/selected/do', doing, async ({ account, base, form, person, query }) => {
    const { ids, trigger } = form
    const back = `${base}/contacts${searchIn(query)}`
    if (form.do === 'delete') {
      const emails = (await contactsAmong(read, account.id, ids)).map(({ email }) => email)
      const deleted = await deleteContacts(deps, account.id, ids)
      const flash = deleted === 1 ? '1 contact is deleted' : `${deleted} contacts are deleted`
      return redirect(back, {
        flash,
        audit: auditOf(operations.deleteContact, { detail: { emails } }),
      })
    }
    if (form.do === 'set' || form.do === 'unsubscribe') {
      const set = form.do === 'set' ? await setField(read, account.id, form) : {}
      const order = { do: form.do, ...set, note: form.note?.trim() || undefined, by: 'dashboard' }
      const changed = await changeSome(deps, account.id, order, ids)
      const flash = `${counted(changed, 'contact')} ${form.do === 'set' ? 'changed' : 'unsubscribed'}`
      const detail = { do: form.do, ids, note: order.note }
      return redirect(back, { flash, audit: auditOf(operations.changeContacts, { detail }) })
    }
    const list = await requireList(read, account.id, form.list ?? '')
    const { id: listId, name } = list
    if (form.do === 'remove') {
      const taken = await takeOffList(deps, account.id, listId, ids)
      const flash = `${counted(taken, 'contact')} taken off “${name}”`
      const audit = auditOf(operations.removeContact, { target: listId, detail: { ids } })
      return redirect(back, { flash, audit })
    }
    const { follow, checkRoom, followed, askFirst } = deps.contacts
    const starts = trigger !== undefined
    checkOpen(await readBilling(read, deps.plans, account.id))
    if (starts) await checkRoom?.()
    const note = form.note?.trim() || undefined
    if (list.doubleOptIn && form.ask !== 'once') {
      const says = `Added by ${person.email}${note === undefined ? '' : `: ${note}`}`
      const whom = { listId, ids, note: says, starts }
      const came = await askSome({ read, askFirst }, account.id, whom)
      const audit = { action: 'contact.ask', target: listId, detail: { ids } }
      return redirect(back, { flash: askedWords(came, name), audit })
    }
    if (list.doubleOptIn) agreedOf(note)
    const options = { by: 'dashboard', note, ...(starts && { follow }) }
    const joined = await putOnList(deps, account.id, { listId, ids }, options)
    if (starts) followed?.()
    const flash = `${counted(joined, 'contact')} put on “${name}”`
    const detail = { list: listId, ids, trigger: starts }
    return redirect(back, { flash, audit: { action: 'contact.add', target: listId, detail } })
  })
}

const searchIn = (query: URLSearchParams) => (query.size > 0 ? `?${query}` : '')

const asksFields = ['set', 'unsubscribe', 'add'] as const

/** The page that asks. Throws a 422 where nobody is ticked, a 404 for a list that is not there. */
async function selectedView(
  { store: { read } }: ContactPageDeps,
  { account, base, query }: Pick<Visit, 'account' | 'base' | 'query'>,
  form: Chosen,
): Promise<SelectedView> {
  const contacts = await contactsAmong(read, account.id, form.ids)
  if (contacts.length === 0 || form.ids.length > mostAtOnce) {
    throw new ApiError('validation_error', 'Tick those first whom it is about', {
      status: 422,
      fields: { field: 'ids' },
    })
  }
  const lists = await listsOfContacts(
    read,
    contacts.map(({ id }) => id),
  )
  const onList = (id: string, listId: string) => lists.get(id)?.some((one) => one.id === listId)
  const people = counted(contacts.length, 'contact')
  const common = {
    base,
    accountId: account.id,
    what: form.do,
    list: form.list ?? '',
    ids: contacts.map(({ id }) => id),
    emails: contacts.map(({ email }) => email),
    back: `${base}/contacts${searchIn(query)}`,
    query: searchIn(query),
    faults: { message: undefined, fields: {}, values: {} },
    asksFirst: false,
    own: form.do === 'set' ? await fieldNames(read, account.id) : [],
  }
  if (form.do === 'delete') {
    const held = contacts.filter(({ id }) => (lists.get(id) ?? []).length > 0).length
    return {
      ...common,
      title: `Delete ${people}?`,
      says: [
        `Their fields and their places on lists go for good (${held} of ${contacts.length} are on a list). Automations that they are in end for them.`,
        'Who unsubscribed, bounced or complained stays so, and so does the consent record. Mails that they got stay in the log.',
      ],
      button: `Delete ${people}`,
      isDanger: true,
      asksTrigger: false,
      same: {
        api: [call(api.contacts.deleteContact, { of: { id: 'CONTACT-ID' } })],
        cli: [command('contact delete', { of: ['ADDRESS'], account: account.id })],
      },
    }
  }
  if (form.do === 'set' || form.do === 'unsubscribe') {
    const example = form.do === 'set' ? { metadata: { town: 'Lagos' } } : { note: 'asked by phone' }
    return {
      ...common,
      ...wordsOf[form.do](people, ''),
      asksTrigger: false,
      same: {
        api: [call(api.contacts.changeContacts, { body: { do: form.do, q: 'ann', ...example } })],
      },
    }
  }
  const list = await requireList(read, account.id, form.list ?? '')
  const already = contacts.filter(({ id }) => onList(id, list.id)).length
  if (form.do === 'add') {
    return {
      ...common,
      title: `Add ${people} to “${list.name}”?`,
      says: [
        already === 0
          ? 'None of them is on it yet.'
          : `${already} of them ${already === 1 ? 'is' : 'are'} on it already.`,
        'Who unsubscribed, bounced or complained gets no marketing mail by it.',
      ],
      button: `Add to “${list.name}”`,
      isDanger: false,
      asksTrigger: true,
      asksFirst: list.doubleOptIn,
      same: {
        api: [
          call(api.addContact, {
            of: { listId: list.id },
            body: { email: 'ada@example.com' },
          }),
        ],
      },
    }
  }
  const only = contacts.filter(
    ({ id }) => onList(id, list.id) && lists.get(id)?.length === 1,
  ).length
  return {
    ...common,
    title: `Take ${counted(already, 'contact')} off “${list.name}”?`,
    says: [
      ...(already < contacts.length
        ? [
            `${contacts.length - already} of those who are ticked ${contacts.length - already === 1 ? 'is' : 'are'} not on it.`,
          ]
        : []),
      already === 0
        ? 'Nobody is taken off.'
        : only === 0
          ? 'All of them are on other lists too, and stay contacts.'
          : `${only} of them ${only === 1 ? 'is' : 'are'} on no other list and ${only === 1 ? 'is' : 'are'} deleted for good.`,
    ],
    button: `Take off “${list.name}”`,
    isDanger: true,
    asksTrigger: false,
    same: {
      api: [
        call(api.contacts.removeContact, {
          of: { listId: list.id, contactId: 'CONTACT-ID' },
        }),
      ],
    },
  }
}
