import { listAccounts } from '../../accounts/index.js'
import { shownFor } from '../../clock/index.js'
import {
  classNames,
  type Explained,
  explainAll,
  explainOne,
  findDeliveries,
  listWaiting,
  lookForWaiting,
  mostLookedAt,
  type WaitingDelivery,
} from '../../deliveries/index.js'
import { readQueueClasses } from '../../doctor/index.js'
import { ApiError } from '../../errors/index.js'
import { queueClass } from '../../store/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { command } from '../shell/command-line.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { linkTo } from '../shell/listing.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import type { OperatorPageDeps } from './deps.js'
import { ages, choiceIn, filterOf, isChosen, optionsOf } from './queue-filter.js'

const perPage = 50

/** `/operator/queue`: what waits and why; one delivery. */
export function queuePages(pages: OperatorPages, deps: OperatorPageDeps): void {
  pages.get('/queue', 'operator.read', (visit) => queuePage(deps, visit))
  pages.get('/queue/:id', 'operator.read', (visit) => deliveryPage(deps, visit))
}

/** The deliveries that fit the choice in the address, the longest waiting first. */
async function queuePage(deps: OperatorPageDeps, visit: OperatorVisit): Promise<PageAnswer> {
  const { store, running } = deps
  const { query, now } = visit
  const choice = choiceIn((name) => query.get(name))
  const after = Number(query.get('after') ?? '-1')
  // From the threads' memory: which sites hold mail back now.
  const overview = await running.overview()
  let faults: Faults = noFaults
  // A fault in the choice is told above the list, and the fields keep what was filled in.
  const filter = await filterOf(store.read, choice, now).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
    faults = { ...noFaults, message: error.message }
    return undefined
  })
  const from = Number.isSafeInteger(after) ? after : -1
  const found = filter && (await lookForWaiting(store.read, filter, { after: from }))
  const ids = found?.ids.slice(0, perPage) ?? []
  const waiting = await listWaiting(store.read, { ids }, perPage)
  // Only for the deliveries on the page: each explanation asks the outbound thread that has the delivery's lane.
  const rows = await explainAll(store.read, waiting, now, running.gateOf)
  const names = await namesOf(deps, rows)
  const isFull = (found?.ids.length ?? 0) > perPage
  // Where the search was cut off before a page was full, 'Older' goes on from there.
  const next = isFull ? ids.at(-1) : (found?.next ?? undefined)
  const classes = await readQueueClasses(store.read, now, overview)
  const view = {
    now,
    choice,
    ages,
    faults,
    names,
    mayChange: visit.may('operator.write'),
    chosen: isChosen(choice),
    classNames,
    classes: classes.map(({ name, waiting, oldestMs, dueMs }) => ({
      name,
      waiting,
      oldest: oldestMs === null ? '–' : shownFor(oldestMs),
      due: dueMs === null ? '–' : shownFor(dueMs),
    })),
    sites: overview.sites.slice(0, 20).map(({ site, connections, limit, streams, gate, why }) => ({
      site,
      connections,
      streams,
      gate: gate ?? 'open',
      why,
      limit: limit === null ? '–' : String(limit),
    })),
    accounts: overview.accounts.slice(0, 10).map(({ accountId, streams }) => ({
      accountId,
      streams,
      name: names[accountId] ?? accountId,
    })),
    rows: rows.map((row) => shownWaiting(row, now)),
    fits: found === undefined ? '' : countOf(found.ids.length, found.isCut),
    isCut: found?.isCut ?? false,
    mostLookedAt: mostLookedAt.toLocaleString('en-GB'),
    older:
      next === undefined
        ? undefined
        : linkTo('/operator/queue', { ...choice, after: String(next) }),
    first: from < 0 ? undefined : linkTo('/operator/queue', choice),
    actions: (['retry', 'hold', 'release', 'fail'] as const).map((name) => ({
      name,
      label: changeTitles[name],
      href: linkTo(`/operator/queue/change/${name}`, choice),
    })),
    command: command('queue list', optionsOf(choice)),
  }
  const look = faults.message === undefined ? {} : { faults, status: 422 }
  return page('operator/queue', view, { title: 'Queue', wide: true, ...look })
}

/** The words of the buttons that change deliveries. */
export const changeTitles = {
  retry: 'Retry',
  hold: 'Hold',
  release: 'Release',
  fail: 'Fail',
} as const

/** `12`, or `at least 10,000` where not all were looked at. */
export const countOf = (count: number, isCut: boolean) =>
  `${isCut ? 'at least ' : ''}${count.toLocaleString('en-GB')}`

/** A delivery's row. */
function shownWaiting({ delivery, why }: Explained, now: number) {
  const { id, recipient, lane, acceptedAt, attempts, lastReply, accountId, held } = delivery
  return {
    id: String(id),
    recipient,
    lane,
    class: delivery.class,
    acceptedAt,
    attempts,
    accountId,
    age: shownFor(now - acceptedAt),
    gate: why.gate,
    says: why.says,
    until: why.until,
    lastReply: lastReply ?? '',
    isHeld: held !== null,
    heldSince: held?.since ?? null,
    wasDue: held?.dueAt ?? null,
    heldWhy: held?.reason ?? '',
    // Its next attempt would come after its time is over, so it will be given up.
    isLate: (why.until ?? 0) >= delivery.expiresAt,
  }
}

/** The names of the accounts on a page; the appliance's own mail has an account that no list shows. */
async function namesOf(
  { store }: OperatorPageDeps,
  rows: readonly Explained[],
): Promise<Record<string, string>> {
  if (rows.length === 0) return {}
  return Object.fromEntries((await listAccounts(store.read)).map(({ id, name }) => [id, name]))
}

/** A delivery that waits, or one that has ended: its number stays the same. */
async function deliveryPage(deps: OperatorPageDeps, visit: OperatorVisit): Promise<PageAnswer> {
  const { store, running } = deps
  const { now } = visit
  const { waiting, ended } = await findDeliveries(store.read, { id: idIn(visit.params.id) })
  const [delivery] = waiting
  const [past] = ended
  if (delivery !== undefined) {
    const explained = await explainOne(store.read, delivery, now, running.gateOf)
    const names = await namesOf(deps, [explained])
    const { emailId, accountId, broadcastId, expiresAt, lastAttemptAt, scheduledAt } = delivery
    const view = {
      now,
      ...shownWaiting(explained, now),
      emailId,
      accountId,
      broadcastId,
      expiresAt,
      lastAttemptAt,
      scheduledAt,
      transcript: delivery.lastTranscript ?? '',
      moved: await movedIn(deps, delivery, now),
      account: names[accountId] ?? 'Posthorn itself',
      mayChange: visit.may('operator.write'),
      ended: undefined,
    }
    return page('operator/delivery', view, { title: `To ${delivery.recipient}` })
  }
  if (past === undefined) throw new ApiError('not_found', 'The delivery is not known (any more)')
  return page(
    'operator/delivery-ended',
    {
      now,
      ...past,
      id: String(past.id),
      transcript: past.transcript ?? '',
      reply: past.reply ?? '–',
      remote: past.remote ?? '–',
      tls: past.tls ?? '–',
    },
    { title: `To ${past.recipient}` },
  )
}

/** By which order it leaves from another pool, in words; undefined: from its own. */
async function movedIn(
  { store: { read }, config: { outbound }, shapingFiles, openResolver }: OperatorPageDeps,
  { lane, accountId, class: name }: WaitingDelivery,
  now: number,
): Promise<string | undefined> {
  // Loaded here and not at the start, because it loads all of `outbound`.
  const { loadReadableShaping, movedTo, orderInWords } = await import('../../outbound/index.js')
  const shaping = () => loadReadableShaping(shapingFiles()).data
  const order = await movedTo(
    { read, now, outbound, shaping, resolver: openResolver },
    { lane, accountId, class: queueClass[name] },
  )
  return order && orderInWords(order)
}

/** 16 digits are as far as a double counts exactly. */
function idIn(given = ''): number {
  if (/^\d{1,16}$/.test(given) && Number.isSafeInteger(Number(given))) return Number(given)
  throw new ApiError('not_found', 'There is no delivery with this number')
}
