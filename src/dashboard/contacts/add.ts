import { array, optional, string, type } from 'superstruct'
import {
  type AccountBilling,
  checkAdding,
  checkOpen,
  contactCeiling,
  readBilling,
} from '../../billing/index.js'
import { listContactFields } from '../../contact-fields/index.js'
import * as operations from '../../contacts/contract.js'
import {
  addContactIn,
  type NewContact,
  putOnListIn,
  standingOn,
  toE164,
  wantConfirmation,
  whyMail,
} from '../../contacts/index.js'
import { checked } from '../../contract/index.js'
import { refuseWrong, type WrongField } from '../../errors/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import { command } from '../shell/command-line.js'
import { checkAll, type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { SameBy } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import type { ContactPageDeps } from './deps.js'
import { likelyMeant } from './domain-typo.js'
import { listChoices, listNamed, onOlderLists } from './lists.js'
import { fieldChanges, fieldRows, type OwnFieldRow, sentRows } from './own-fields.js'

/** The form of a new contact. */
interface AddView {
  base: string
  email: string
  lists: { value: string; label: string }[]
  /** What is said of lists that are not offered; empty: all are. */
  older: string
  chosen: string[]
  own: OwnFieldRow[]
  /** The address that may have been meant. */
  meant: string | undefined
  faults: Faults
  same: SameBy
}

const AddForm = type({
  email: string(),
  sure: optional(string()),
  firstName: optional(string()),
  lastName: optional(string()),
  phone: optional(string()),
  key: array(string()),
  value: array(string()),
  was: array(string()),
  lists: array(string()),
  agreed: string(),
  confirm: optional(string()),
  trigger: optional(string()),
})
type AddForm = (typeof AddForm)['TYPE']

const maxAgreed = 1_000

/** One contact, added by hand, with how they agreed. */
export function addPages(pages: AccountPages, deps: ContactPageDeps): void {
  const { store, plans } = deps
  const { defaultCountry, checkRoom, askFirst } = deps.contacts
  const show = (visit: Visit, faults: Faults) => showForm(deps, visit, faults)
  pages.get('/contacts/new', 'contacts.write', (visit) => show(visit, noFaults))

  const options = { action: 'contacts.write', form: AddForm, again: show } as const
  pages.post('/contacts/new', options, async ({ account, base, form, person }) => {
    const { email, firstName, lastName, phone, lists } = form
    const described = await listContactFields(store.read, account.id)
    const { metadata } = fieldChanges({}, sentRows(form), described)
    const shape = {
      email: email.trim(),
      firstName,
      lastName,
      phone,
      ...(Object.keys(metadata).length > 0 && { metadata }),
    }
    const asks =
      form.confirm !== undefined || (await wantConfirmation(store.read, account.id, lists))
    const note = form.agreed.trim()
    const shaped = operations.addContactTo(defaultCountry)
    checkAll([() => checked(shaped, shape), () => refuseWrong(wrongIn(form, note, asks))])
    const given = checked(shaped, shape)
    const billing = await readBilling(store.read, plans, account.id)
    checkOpen(billing)
    const starts = form.trigger !== undefined
    if (starts) await checkRoom?.()
    const number = given.phone === undefined ? undefined : toE164(given.phone, defaultCountry)
    const contact = { ...given, phone: number }
    const standing = asks && (await standingOn(store.read, account.id, given.email, lists))
    if (standing === 'off' || standing === 'on') {
      checkAdding(billing)
      const says = `Added by ${person.email}${note === '' ? '' : `: ${note}`}`
      const asked = { given: contact, listIds: lists, note: says, starts }
      const { id, email: target } = await askFirst(account.id, asked)
      const audit = { action: 'contact.ask', target: id, detail: { email: target, lists } }
      return redirect(`${base}/contacts`, { flash: askedFlash(target), audit })
    }
    const done = await addByHand(deps, account.id, { given: contact, lists, note, starts, billing })
    return redirect(`${base}/contacts/${done.id}`, {
      flash: done.says,
      audit: {
        action: 'contact.add',
        target: done.id,
        detail: { email: done.email, lists, ...(starts && { trigger: true }) },
      },
    })
  })
}

const askedFlash = (email: string) =>
  `${email} is asked by mail. They are a contact, and on the lists, once they have pressed its button`

/** Puts somebody on the lists at once, and says what came of it. */
async function addByHand(
  { store, clock, plans, contacts: { follow, followed } }: ContactPageDeps,
  accountId: string,
  {
    given,
    lists,
    note,
    starts,
    billing,
  }: {
    given: NewContact
    lists: readonly string[]
    note: string
    starts: boolean
    billing: AccountBilling
  },
): Promise<{ id: string; email: string; says: string }> {
  const joining = { by: 'dashboard', note, ...(starts && { follow }) } as const
  const [first, ...others] = lists
  const id = store.ids.uuid()
  const { contact, added } = await store.write(async (tx) => {
    const now = clock.now()
    const done = await addContactIn(tx, { id, now }, accountId, given, {
      ...joining,
      listId: first,
      ceiling: contactCeiling(plans, billing),
      checkNew: () => checkAdding(billing),
    })
    for (const listId of others) {
      await putOnListIn(tx, accountId, { listId, ids: [done.contact.id], now }, joining)
    }
    return done
  }, accountId)
  if (starts) followed?.()
  const { email } = contact
  const { marketing } = await whyMail(store.read, accountId, email)
  const what = added ? `${email} is added` : `${email} was a contact already, and has what you gave`
  // Nobody who left comes back by being added again.
  const says = marketing.gets ? what : `${what}. They get no marketing mail: see why below`
  return { id: contact.id, email, says }
}

/** What is to be looked at again: an address that may be a slip, and that nothing says how they agreed unless they are asked. */
function wrongIn({ email, sure }: AddForm, note: string, isAsked: boolean): WrongField[] {
  const meant = likelyMeant(email.trim())
  const slip = `Is it ${meant}? Change it, or tick below that it is right as it stands`
  const unsaid = 'Write how they agreed to get your mail, or send a confirmation first'
  const isLong = note.length > maxAgreed || !note.isWellFormed()
  return [
    ...(meant === undefined || sure !== undefined ? [] : [{ field: 'email', message: slip }]),
    ...(note === '' && !isAsked ? [{ field: 'agreed', message: unsaid }] : []),
    ...(isLong ? [{ field: 'agreed', message: 'At most 1,000 characters' }] : []),
  ]
}

async function showForm(
  { store: { read } }: ContactPageDeps,
  { account, base, query, fields }: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const chosen = await listNamed(read, account.id, query.get('list') || undefined)
  const lists = await listChoices(read, account.id, chosen)
  const view: AddView = {
    base,
    email: query.get('email') ?? '',
    older: onOlderLists(lists),
    lists: lists.map(({ value, label, asksFirst }) => ({
      value,
      label: asksFirst ? `${label} (asks people first)` : label,
    })),
    chosen: chosen.map(({ id }) => id),
    own: fieldRows({}, await listContactFields(read, account.id), fields).rows,
    meant: likelyMeant((fields.get('email') ?? '').trim()),
    faults,
    same: {
      api: [
        call(api.addContact, {
          of: { listId: 'LIST-ID' },
          body: { email: 'ada@example.com', confirm: true },
        }),
      ],
      cli: [
        command('contact add', { of: ['ada@example.com'], firstName: 'Ada', account: account.id }),
      ],
    },
  }
  return page('contacts/add', view, { title: 'Add a contact' })
}
