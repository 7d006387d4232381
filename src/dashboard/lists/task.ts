import { counted, shownCount } from '../../amounts/index.js'
import * as operations from '../../contacts/contract.js'
import {
  createList,
  findImport,
  type ImportTask,
  isUndoable,
  linesOf,
  mostNoted,
  noMailCsv,
  noMailReasons,
  noMailWords,
  refusedCsv,
  requireList,
  unreadPhones,
} from '../../contacts/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { line, maybe, oneOf, structOf, table, words } from '../../fields/index.js'
import { type Moment, moment } from '../format.js'
import { file, type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { movableFrom, unlessLate } from '../tasks/came-late.js'
import { stateChips } from '../tasks/state-chips.js'
import type { ImportPageDeps } from './deps.js'
import {
  columnsIn,
  countryIn,
  ownFields,
  policies,
  readingIn,
  showMapping,
  tellPhones,
} from './map.js'

/** How an import goes, and what came of it. */
interface TaskView {
  base: string
  page: string
  mayWrite: boolean
  filename: string
  state: ImportTask['state']
  chip: (typeof stateChips)['done']
  /** Lines, without the one that names the columns. */
  done: number
  total: number
  hasHeader: boolean
  /** How long it still takes, in words. */
  left: string | undefined
  list: { name: string; page: string } | undefined
  counts: { imported: number; skipped: number; invalid: number }
  /** How many lines say that somebody has left, in a sentence; empty: none. */
  leavers: string
  /** Of those who were put on the list: how many get no mail, and why. */
  noMail: { count: number; reasons: { count: number; says: string; page: string | undefined }[] }
  /** Of how many rows the phone number is kept as a text, in words; empty: of none. */
  unreadPhones: string
  undone: number | undefined
  kept: number
  /** Why it has failed. */
  reason: string | undefined
  /** Why it was paused by itself. */
  waits: string | undefined
  begun: Moment
  isUndoable: boolean
}

const BeginForm = structOf(
  table({
    list: words(),
    newList: maybe(operations.listName),
    known: oneOf(policies.map(({ value }) => value)),
    agreed: line(3, 500, 'How they agreed'),
    trigger: maybe(words()),
  }),
)
const MoveForm = structOf(table({ to: oneOf(['paused', 'running', 'stopped']) }))

/** `/contacts/import/N`: a draft is looked at and begun; what runs is watched, paused, stopped and undone. */
export function taskPages(pages: AccountPages, deps: ImportPageDeps): void {
  const { store, imports } = deps
  const path = '/contacts/import/:id'
  const taskOf = ({ account, params }: Pick<Visit, 'account' | 'params'>) =>
    findImport(store.read, account.id, numberIn(params.id))
  const show = async (visit: Visit, faults: Faults): Promise<PageAnswer> => {
    const task = await taskOf(visit)
    return task.state === 'draft'
      ? showMapping(deps, visit, task, faults)
      : showTask(deps, visit, task)
  }
  pages.get(path, 'contacts.read', (visit) => show(visit, noFaults))

  // Two fields a column.
  const maxBodyBytes = 256 * 1024
  const beginning = {
    action: 'contacts.write',
    form: BeginForm,
    again: show,
    maxBodyBytes,
  } as const
  pages.post(path, beginning, async (visit) => {
    const { account, base, form, fields } = visit
    const task = await taskOf(visit)
    const { rows, mapping } = await imports.glance(task, readingIn(fields))
    const { known, agreed, trigger, newList } = form
    const own = await ownFields(store.read, account.id)
    const columns = columnsIn(fields, mapping.columns, own)
    const order = { ...mapping, columns }
    // Asked first, so that no list is made for what is refused.
    await imports.check(account.id, task.id, order)
    const people = mapping.hasHeader ? rows.slice(1) : rows
    const country = countryIn(fields, imports.defaultCountry)
    tellPhones(fields, unreadPhones(columns, people, country))
    if (form.list === '' && newList === undefined) throw noList()
    const list =
      form.list === ''
        ? await createList(deps, account.id, newList ?? '')
        : await requireList(store.read, account.id, form.list)
    await imports.begin(account.id, task.id, {
      listId: list.id,
      mapping: order,
      known,
      agreed,
      trigger: trigger !== undefined,
      country,
    })
    const lines = task.total - (rows.length - people.length)
    const detail = { file: task.detail.filename, lines, agreed }
    const audit = auditOf(operations.importContacts, { target: list.id, detail })
    return redirect(`${base}/contacts/import/${task.id}`, { audit })
  })

  // Back to the import as it is now, which goes on being shown live.
  const back = async ({ base, params }: Visit, { message }: Faults) =>
    redirect(`${base}/contacts/import/${numberIn(params.id)}`, {
      ...(message && { flash: message }),
    })
  const moving = { action: 'contacts.write', form: MoveForm, again: back } as const
  pages.post(`${path}/state`, moving, async (visit) => {
    const { account, base, form } = visit
    const { id } = await taskOf(visit)
    const change = () => imports.change(account.id, id, form.to)
    await unlessLate(change, async () => (await taskOf(visit)).state, movableFrom(form.to))
    const verb = { paused: 'pause', running: 'resume', stopped: 'cancel' }[form.to]
    const audit = { action: `import.${verb}`, target: String(id) }
    return redirect(`${base}/contacts/import/${id}`, { audit })
  })
  // Like the draft itself, its end changes nobody.
  const removing = { action: 'contacts.write', reads: true, again: back } as const
  pages.post(`${path}/remove`, removing, async (visit) => {
    const { account, base } = visit
    const { id } = await taskOf(visit)
    const remove = () => imports.drop(account.id, id)
    await unlessLate(remove, async () => (await taskOf(visit)).state, ['draft'])
    return redirect(`${base}/contacts/import`, { flash: 'The file is removed' })
  })
  const undoing = { action: 'contacts.write', again: back } as const
  pages.post(`${path}/undo`, undoing, async (visit) => {
    const { account, base } = visit
    const { id } = await taskOf(visit)
    const undo = () => imports.undo(account.id, id)
    await unlessLate(undo, async () => (await taskOf(visit)).state, ['done', 'stopped', 'failed'])
    return redirect(`${base}/contacts/import/${id}`, {
      audit: { action: 'import.undo', target: String(id) },
    })
  })
  pages.get(`${path}/refused.csv`, 'contacts.read', async (visit) => {
    const { id } = await taskOf(visit)
    const audit = { action: 'import.export', target: String(id) }
    return file(refusedCsv(store.read, id), 'text/csv; charset=utf-8', {
      saveAs: 'refused.csv',
      audit,
    })
  })
  pages.get(`${path}/no-mail.csv`, 'contacts.read', async (visit) => {
    const { account } = visit
    const { id, detail, result } = await taskOf(visit)
    const { importId } = result
    if (detail.order === undefined || importId === undefined) throw notBegun()
    const of = { accountId: account.id, listId: detail.order.listId, importId }
    const audit = { action: 'import.export', target: String(id) }
    return file(noMailCsv(store.read, of), 'text/csv; charset=utf-8', {
      saveAs: 'gets-no-mail.csv',
      audit,
    })
  })
}

/** A file of people that an import has not brought yet. */
const notBegun = () => new ApiError('not_found', 'The import has not put anybody on a list')

const noList = () =>
  new ApiError('validation_error', 'Choose a list, or name a new one', {
    status: 422,
    fields: { field: 'newList' },
  })

/** A number in a path; what is none is that of no task. */
const numberIn = (text = '') => (/^\d{1,15}$/.test(text) ? Number(text) : 0)

async function showTask(
  { store }: ImportPageDeps,
  visit: Visit,
  task: ImportTask,
): Promise<PageAnswer> {
  const { account, base, now } = visit
  const { id, state, detail, result, begunAt } = task
  const { done, total } = linesOf(task)
  const { imported = 0, skipped = 0, invalid = 0, suppressed = 0 } = result
  const { order } = detail
  const list =
    order && (await requireList(store.read, account.id, order.listId).catch(() => undefined))
  const view: TaskView = {
    base,
    page: `${base}/contacts/import/${id}`,
    mayWrite: visit.may('contacts.write'),
    filename: detail.filename,
    state,
    chip: stateChips[state],
    done,
    total,
    hasHeader: order?.mapping.hasHeader ?? false,
    left: state === 'running' ? timeLeft(done, total, now - begunAt) : undefined,
    list: list && { name: list.name, page: `${base}/lists/${list.id}` },
    counts: { imported, skipped, invalid },
    leavers: leaverWords(suppressed),
    noMail: noMailOf(task, list && `${base}/contacts?list=${list.id}`),
    unreadPhones: unreadWords(result.unreadPhones ?? 0),
    undone: result.undone,
    kept: result.kept ?? 0,
    reason: state === 'failed' ? result.reason : undefined,
    waits: state === 'paused' ? result.reason : undefined,
    begun: moment(begunAt, now),
    isUndoable: isUndoable(task, now),
  }
  return page('lists/task', view, { title: `Import of ${detail.filename}` })
}

const leaverWords = (count: number): string =>
  count === 0
    ? ''
    : `${counted(count, 'line')} of the file ${count === 1 ? 'says' : 'say'} that somebody has left: that is kept, whatever list they are on`

const unreadWords = (count: number): string =>
  count === 0
    ? ''
    : `${shownCount(count)}: kept as a text, in the field “phone”${count > mostNoted ? `; the first ${shownCount(mostNoted)} of them` : ''}`

/** How many of whom it has brought get no mail, by their reasons, each with a link to those of the list. */
function noMailOf({ result }: ImportTask, listed: string | undefined): TaskView['noMail'] {
  const counts = result.noMail
  const reasons = noMailReasons.flatMap((reason) => {
    const count = counts?.[reason] ?? 0
    if (count === 0) return []
    const page = listed && `${listed}&state=${reason}`
    return { count, says: noMailWords[reason], page }
  })
  return { count: reasons.reduce((sum, { count }) => sum + count, 0), reasons }
}

/** By what it took so far; undefined before that says anything. */
function timeLeft(done: number, total: number, tookMs: number): string | undefined {
  if (done < 100 || tookMs < 2_000) return undefined
  const seconds = Math.ceil(((total - done) * tookMs) / done / 1_000)
  return seconds < 60 ? `about ${seconds} s left` : `about ${Math.ceil(seconds / 60)} min left`
}
