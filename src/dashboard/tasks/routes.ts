import { findTakeOut } from '../../automations/index.js'
import { findBulk } from '../../contacts/index.js'
import {
  countWaiting,
  type ErasureTask,
  findErasure,
  type Staying,
  staysInPages,
} from '../../erasure/index.js'
import { oneOf, structOf, table } from '../../fields/index.js'
import { type AccountTask, findTask, liveTasks } from '../../tasks/index.js'
import type { ContactPageDeps } from '../contacts/deps.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { movableFrom, unlessLate } from './came-late.js'
import { stateChips } from './state-chips.js'

/** How long work goes, and what came of it. */
interface TaskView {
  base: string
  page: string
  title: string
  mayWrite: boolean
  state: AccountTask['state']
  chip: (typeof stateChips)['done']
  done: number
  total: number
  changed: number
  /** They are asked by mail first. */
  asks: boolean
  reason: string | undefined
  begun: Moment
  ended: Moment | undefined
}

const MoveForm = structOf(table({ to: oneOf(['paused', 'running', 'stopped']) }))

/** `/tasks/N`: long work is watched, paused and stopped; an import has its own page. */
export function taskPages(pages: AccountPages, deps: ContactPageDeps): void {
  const { store, bulk, erasures, takeOuts } = deps
  const path = '/tasks/:id'
  pages.get(path, 'contacts.read', async (visit) => {
    const { account, base, params } = visit
    const { id, kind } = await findTask(store.read, account.id, numberIn(params.id))
    if (kind === 'import') return redirect(`${base}/contacts/import/${id}`)
    if (kind === 'runs') return await showTakeOut(deps, visit, id)
    return kind === 'erase' ? await showErasure(deps, visit, id) : await showBulk(deps, visit, id)
  })
  // Back to the task as it is now, which goes on being shown live.
  const again = async ({ base, params }: Visit, { message }: Faults) =>
    redirect(`${base}/tasks/${numberIn(params.id)}`, { ...(message && { flash: message }) })
  const moving = { action: 'contacts.write', form: MoveForm, again } as const
  pages.post(`${path}/state`, moving, async ({ account, base, params, form }) => {
    const { id, kind } = await findTask(store.read, account.id, numberIn(params.id))
    const stateNow = async () => (await findTask(store.read, account.id, id)).state
    const work = kind === 'runs' ? takeOuts : bulk
    await unlessLate(() => work.change(account.id, id, form.to), stateNow, movableFrom(form.to))
    const verb = { paused: 'pause', running: 'resume', stopped: 'cancel' }[form.to]
    const audit = { action: `task.${verb}`, target: String(id) }
    return redirect(`${base}/tasks/${id}`, { audit })
  })
  pages.post(
    `${path}/again`,
    { action: 'contacts.write', again },
    async ({ account, base, params }) => {
      const { id } = await findErasure(store.read, account.id, numberIn(params.id))
      await erasures.again(account.id, id)
      const audit = { action: 'task.resume', target: String(id) }
      return redirect(`${base}/tasks/${id}`, { audit })
    },
  )
}

/** A number in a path; what is none is that of no task. */
const numberIn = (text = '') => (/^\d{1,15}$/.test(text) ? Number(text) : 0)

/** What is under way in an account, for the top of a page. */
export async function runningNow(
  { store: { read } }: Pick<ContactPageDeps, 'store'>,
  { account, base }: Pick<Visit, 'account' | 'base'>,
): Promise<{ title: string; href: string; isPaused: boolean }[]> {
  const live = await liveTasks(read)
  return live
    .filter(({ accountId, state }) => accountId === account.id && isUnderWay.has(state))
    .map((task) => ({
      title: titleOf(task),
      href: `${base}/tasks/${task.id}`,
      isPaused: task.state === 'paused',
    }))
}

// What is paused is told too: nothing else says that somebody has to go on with it.
const isUnderWay: ReadonlySet<AccountTask['state']> = new Set(['running', 'paused', 'undoing'])

const titleOf = ({ kind, detail }: Pick<AccountTask, 'kind' | 'detail'>): string => {
  if (kind === 'import') return `Import of ${String(detail.filename ?? 'a file')}`
  if (kind === 'erase') return 'Erasing what is known of somebody'
  if (kind === 'runs') return `Taking people out of “${String(detail.name ?? 'an automation')}”`
  const { order } = detail as { order?: { do?: string } }
  return titles[order?.do ?? ''] ?? 'Work with contacts'
}

const titles: Readonly<Record<string, string>> = {
  add: 'Adding contacts to a list',
  remove: 'Taking contacts off a list',
  set: 'Setting a field of contacts',
  unsubscribe: 'Unsubscribing contacts',
  delete: 'Deleting contacts',
}

async function showBulk({ store }: ContactPageDeps, visit: Visit, id: number): Promise<PageAnswer> {
  const { account, base, now } = visit
  const task = await findBulk(store.read, account.id, id)
  const { state, done, total, result, begunAt, endedAt } = task
  const title = titleOf({ ...task, detail: { ...task.detail } })
  const view: TaskView = {
    base,
    page: `${base}/tasks/${id}`,
    title,
    mayWrite: visit.may('contacts.write'),
    state,
    chip: stateChips[state],
    done,
    total,
    changed: result.changed ?? 0,
    asks: task.detail.order.confirm === true,
    reason: result.reason,
    begun: moment(begunAt, now),
    ended: endedAt === null ? undefined : moment(endedAt, now),
  }
  return page('tasks/bulk', view, { title })
}

/** How far it is that people are taken out of an automation. */
interface TakeOutView {
  base: string
  page: string
  title: string
  /** The automation's page. */
  back: { label: string; href: string }
  /** Whom it is about. */
  says: string
  mayWrite: boolean
  state: AccountTask['state']
  chip: (typeof stateChips)['done']
  done: number
  total: number
  reason: string | undefined
  begun: Moment
  ended: Moment | undefined
}

async function showTakeOut(
  { store }: ContactPageDeps,
  visit: Visit,
  id: number,
): Promise<PageAnswer> {
  const { account, base, now, may } = visit
  const task = await findTakeOut(store.read, account.id, id)
  const { state, done, total, result, detail, begunAt, endedAt } = task
  const title = titleOf({ kind: 'runs', detail })
  const view: TakeOutView = {
    base,
    page: `${base}/tasks/${id}`,
    title,
    back: { label: detail.name, href: `${base}/automations/${detail.automationId}/runs` },
    says: detail.says,
    mayWrite: may('automations.write'),
    state,
    chip: stateChips[state],
    done,
    total,
    reason: state === 'failed' ? result.reason : undefined,
    begun: moment(begunAt, now),
    ended: endedAt === null ? undefined : moment(endedAt, now),
  }
  return page('tasks/take-out', view, { title })
}

/** How far an erasure is. */
interface ErasureView {
  base: string
  title: string
  chip: (typeof stateChips)['done']
  state: ErasureTask['state']
  name: string
  mails: number
  /** Mails that wait for other recipients. */
  waiting: number
  stays: readonly Staying[]
  /** Has it go on, where it has failed and who looks may. */
  again: string | undefined
  reason: string | undefined
  begun: Moment
  ended: Moment | undefined
}

async function showErasure(
  { store }: ContactPageDeps,
  { account, base, now, may }: Visit,
  id: number,
): Promise<PageAnswer> {
  const task = await findErasure(store.read, account.id, id)
  const { state, detail, result, begunAt, endedAt } = task
  const view: ErasureView = {
    base,
    title: titleOf({ kind: 'erase', detail: {} }),
    chip: stateChips[state],
    state,
    name: detail.name,
    mails: result.mails ?? 0,
    waiting: await countWaiting(store.read, id),
    stays: staysInPages,
    again: state === 'failed' && may('contacts.write') ? `${base}/tasks/${id}/again` : undefined,
    reason: state === 'failed' ? result.reason : undefined,
    begun: moment(begunAt, now),
    ended: endedAt === null ? undefined : moment(endedAt, now),
  }
  return page('tasks/erasure', view, { title: view.title })
}
