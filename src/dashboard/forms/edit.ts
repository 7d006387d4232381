import { accountLanguages } from '../../accounts/index.js'
import { listContactFields } from '../../contact-fields/index.js'
import { listPage, requireList } from '../../contacts/index.js'
import { auditOf, checked } from '../../contract/index.js'
import { uuidForm } from '../../fields/index.js'
import * as operations from '../../forms/contract.js'
import {
  checkForm,
  createForm,
  type FormSettings,
  listsThere,
  pageForm,
  resumeForm,
  type SignupForm,
  updateForm,
  usualConsent,
  usualSettings,
} from '../../forms/index.js'
import { listTopics } from '../../topics/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import { namedOptions } from '../shell/named-options.js'
import type { AccountPages } from '../shell/page.js'
import { markPart, refuseStale } from '../shell/stale.js'
import type { Visit } from '../shell/visit.js'
import type { FormPlaceDeps } from './deps.js'
import {
  checkTyped,
  EditedForm,
  type FieldRow,
  givenBy,
  isAsked,
  questionKinds,
  rowsOf,
  rowsTyped,
} from './form-fields.js'
import { showForm } from './one.js'
import { markOfForm, storedNow } from './stored-now.js'

/** The form about a form, a new one or one that is there. */
interface EditFormView {
  base: string
  /** Undefined for a new one. */
  page: string | undefined
  action: string
  title: string
  settings: Omit<FormSettings, 'fields'> & { name: string }
  rows: FieldRow[]
  /** The others, which ask for nothing yet, are behind a fold. */
  shownRows: number
  rowFaults: Faults
  types: { value: string; label: string }[]
  lists: { value: string; label: string }[]
  listsHint: string
  topics: { value: string; label: string }[]
  languages: { value: string; label: string }[]
  faults: Faults
  accountId: string
  /** What it was filled with; undefined for a new one. */
  mark: Html | undefined
}

const usual: FormSettings = {
  ...usualSettings,
  lists: [],
  consent: usualConsent('en'),
}

const mostLists = 100

/** Making, changing, archiving, and letting go on. */
export function editPages(pages: AccountPages, deps: FormPlaceDeps): void {
  const { store } = deps
  const showNew = (visit: Visit, faults: Faults) => showEdit(deps, visit, undefined, faults)
  pages.get('/forms/new', 'contacts.write', (visit) => showNew(visit, noFaults))
  const making = { action: 'contacts.write', form: EditedForm, again: showNew } as const
  pages.post('/forms/new', making, async ({ account, base, form }) => {
    const own = await listContactFields(store.read, account.id)
    const given = givenBy(form, own)
    checkTyped(form, own, [
      () => checked(operations.createForm, given),
      () => checkForm(given, given.acceptRisk),
    ])
    const { id, name } = await createForm(deps, account.id, checked(operations.createForm, given))
    return redirect(`${base}/forms/${id}`, {
      flash: `The form “${name}” is made`,
      audit: auditOf(operations.createForm, { target: id }),
    })
  })

  const formOf = ({ account, params }: Visit) => pageForm(store.read, account.id, params.id ?? '')
  const showOld = async (visit: Visit, faults: Faults) =>
    showEdit(deps, visit, await formOf(visit), faults)
  pages.get('/forms/:id/edit', 'contacts.write', (visit) => showOld(visit, noFaults))
  const changing = { action: 'contacts.write', form: EditedForm, again: showOld } as const
  pages.post('/forms/:id/edit', changing, async ({ account, base, params, form, fields }) => {
    const own = await listContactFields(store.read, account.id)
    const given = givenBy(form, own)
    const before = await pageForm(store.read, account.id, params.id ?? '')
    checkTyped(form, own, [
      () => checked(operations.updateForm, given),
      () => checkForm(given, given.acceptRisk ?? !before.settings.doubleOptIn),
    ])
    const changes = checked(operations.updateForm, given)
    const { id } = await updateForm(deps, account.id, before.id, changes, (form) =>
      refuseStale(fields, markOfForm(form)),
    )
    return redirect(`${base}/forms/${id}`, {
      flash: 'Saved',
      audit: auditOf(operations.updateForm, { target: id }),
    })
  })

  const again = (visit: Visit, faults: Faults) => showForm(deps, visit, faults)
  for (const archived of [true, false]) {
    const path = `/forms/:id/${archived ? 'archive' : 'restore'}`
    pages.post(path, { action: 'contacts.write', again }, async ({ account, base, params }) => {
      const { id, name } = await updateForm(deps, account.id, params.id ?? '', { archived })
      return redirect(`${base}/forms/${id}`, {
        flash: `“${name}” is ${archived ? 'archived: its page takes nobody any more' : 'in use again'}`,
        audit: auditOf(operations.updateForm, { target: id, detail: { archived } }),
      })
    })
  }
  pages.post(
    '/forms/:id/resume',
    { action: 'contacts.write', again },
    async ({ account, base, params }) => {
      const { id, name, carefulAt } = await resumeForm(deps, account.id, params.id ?? '')
      return redirect(`${base}/forms/${id}`, {
        flash: `“${name}” ${carefulAt === null ? 'sends confirmations again' : 'sends confirmations again, carefully for seven days'}`,
        audit: auditOf(operations.resumeForm, { target: id }),
      })
    },
  )
}

async function showEdit(
  { store: { read } }: FormPlaceDeps,
  visit: Visit,
  form: SignupForm | undefined,
  faults: Faults,
): Promise<PageAnswer> {
  const { account, base, fields: sent, query } = visit
  const { page: lists } = await listPage(read, account.id, { limit: mostLists })
  const { fields, ...settings } = form?.settings ?? usual
  const own = await listContactFields(read, account.id)
  // The page of a list leads here with it; whatever is ticked is offered, however old it is.
  const begun = form?.settings.lists ?? [query.get('list') ?? ''].filter(Boolean)
  const ticked = [...new Set([...begun, ...sent.all('lists')])].filter((id) => uuidForm.test(id))
  const chosen = await listsThere(read, account.id, ticked.slice(0, mostLists))
  const isAll = lists.length < mostLists
  const listed = new Set(lists.map(({ id }) => id))
  for (const id of chosen) if (!listed.has(id)) lists.push(await requireList(read, account.id, id))
  const offered = new Set(settings.topics)
  const topics = (await listTopics(read, account.id, { archived: true })).filter(
    ({ id, archived }) => !archived || offered.has(id),
  )
  const place = form && `${base}/forms/${form.id}`
  const rows = sent.get('fieldName') === undefined ? rowsOf(fields, own) : rowsTyped(sent)
  // Those that ask for something, and an empty one.
  const shownRows = rows.findLastIndex(isAsked) + 2
  const choices = [...lists, ...topics].map(({ id, name }) => [id, name] as const)
  const view: EditFormView = {
    base,
    page: place,
    action: place === undefined ? `${base}/forms/new` : `${place}/edit`,
    title: form === undefined ? 'New form' : `Change “${form.name}”`,
    settings: { ...settings, lists: begun, name: form?.name ?? '' },
    rows,
    shownRows,
    // Rows have what was typed into them of their own.
    rowFaults: { ...faults, values: {}, asked: [] },
    types: questionKinds(own),
    lists: namedOptions(lists),
    listsHint: `Who confirms is on them.${isAll ? '' : ` The newest ${mostLists} are offered. For an older one press “New form” on its own page.`}`,
    topics: namedOptions(
      topics.map(({ id, name, archived }) => ({
        id,
        name: archived ? `${name} (archived)` : name,
      })),
    ),
    languages: Object.entries(accountLanguages).map(([value, label]) => ({ value, label })),
    faults,
    accountId: account.id,
    mark:
      form &&
      (await markPart(read, visit, {
        target: form.id,
        mark: markOfForm(form),
        page: `${base}/forms/${form.id}/edit`,
        now: () => storedNow(form, sent, rowsOf(fields, own), new Map(choices)),
      })),
  }
  return page('forms/edit', view, { title: view.title })
}
