import { nextTurn } from '../bounded/index.js'
import { isDueBy, isRecent, pause } from '../clock/index.js'
import { idsIn, isPassing, type Store, wholeTo } from '../store/index.js'
import { nextToFill } from './fill.js'
import {
  contactsALook,
  judgeAll,
  makeMovesAWrite,
  type SegmentLook,
  type UpkeepDeps,
} from './judging.js'
import { takeDeleted } from './removal.js'
import { mostSegments } from './segment.js'

// A time server moves the clock by milliseconds all the time: a step that small only delays verdicts that fall due
// within it.
const steadyMs = 5_000
// An account whose upkeep failed is looked at again after this time, and the others go on.
const passOverMs = 60_000

/** The accounts that are passed over, and until when. */
type PassedOver = Map<string, number>

/** Whether there is anything to do now. */
export async function segmentsWait({ store, clock }: Pick<UpkeepDeps, 'store' | 'clock'>) {
  const { read } = store
  const now = clock.now()
  const [change, due, filling, deleted, ahead] = await Promise.all([
    read.selectFrom('segment_changes').select('id').limit(1).executeTakeFirst(),
    read.selectFrom('segment_due').select('at').where('at', '<=', now).limit(1).executeTakeFirst(),
    read
      .selectFrom('segments')
      .select('id')
      .where('state', '=', 'filling')
      .limit(1)
      .executeTakeFirst(),
    read
      .selectFrom('segments')
      .select('id')
      .where('state', '=', 'deleted')
      .limit(1)
      .executeTakeFirst(),
    read
      .selectFrom('segments')
      .select('id')
      .where('as_of', '>', now + steadyMs)
      .limit(1)
      .executeTakeFirst(),
  ])
  return [change, due, filling, deleted, ahead].some((one) => one !== undefined)
}

/** From when on `segmentsWait` holds, as long as nobody commits; undefined: not at all. */
export async function segmentsDueAt(
  deps: Pick<UpkeepDeps, 'store' | 'clock'>,
): Promise<number | undefined> {
  const now = deps.clock.now()
  if (await segmentsWait(deps)) return now
  const next = await deps.store.read
    .selectFrom('segment_due')
    .select(({ fn }) => fn.min<number | null>('at').as('at'))
    .where('at', '>', now)
    .executeTakeFirst()
  return next?.at ?? undefined
}

/**
 * Brings the members of all segments up to date: first for changed contacts, then by time, then for segments that are
 * being filled, a slice of each in turn. It also deletes the rows of deleted segments. After a kill the next run goes
 * on. Marks are read before contacts, and deleted in the write of the verdicts: whatever changes meanwhile has a mark
 * of its own.
 */
export async function keepSegments(
  given: UpkeepDeps,
  signal: AbortSignal,
  { passed = new Map(), gatherMs = 0 }: KeepOptions = {},
): Promise<void> {
  const deps = { movesAWrite: makeMovesAWrite(), ...given }
  while (!signal.aborted) {
    await lookAgainAfterStep(deps)
    const changed = await takeChanges(deps, passed)
    const moved = [
      changed !== undefined,
      await takeDeleted(deps.store),
      await takeDue(deps, passed),
      await fillSome(deps, passed),
      (await deps.dates?.work()) ?? false,
    ]
    if (!moved.includes(true)) return
    // With more contacts in one look more of their rows share a page, and a look costs the same for one as for
    // hundreds.
    const isFew = changed !== undefined && changed < fewChanges && moved.indexOf(true, 1) < 0
    if (isFew && gatherMs > 0) await pause(deps.clock, gatherMs, signal)
    else await nextTurn()
  }
}

interface KeepOptions {
  passed?: PassedOver
  /** How long changes are gathered after a look that had few of them. */
  gatherMs?: number
}

// With fewer changes they come one by one, and their segments may be half a second behind.
const fewChanges = 500
const gatherMs = 500

/** The accounts that are passed over now. */
function passedNow(passed: PassedOver, now: number) {
  for (const [id, until] of passed) if (isDueBy(until, now, passOverMs)) passed.delete(id)
  return [...passed.keys()]
}

/** Does the work of one account; if that fails, the account is passed over for a minute. */
async function apart(
  { clock, log }: UpkeepDeps,
  passed: PassedOver,
  accountId: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (isPassing(error)) throw error
    log.error({ accountId, error }, 'Segments of an account cannot go on; tried again in a minute')
    passed.set(accountId, clock.now() + passOverMs)
  }
}

/** A clock that was set back makes verdicts by time wrong: all of them are judged again. */
async function lookAgainAfterStep({ store, clock }: UpkeepDeps): Promise<void> {
  const now = clock.now()
  const ahead = await store.read
    .selectFrom('segments')
    .select('id')
    .where('as_of', '>', now + steadyMs)
    .execute()
  if (ahead.length === 0) return
  const ids = ahead.map(({ id }) => id)
  await store.write(async (tx) => {
    await tx
      .updateTable('segments')
      .set({ as_of: now })
      .where('id', 'in', idsIn(ids, 'text'))
      .execute()
    await tx
      .updateTable('segments')
      .set({ state: 'filling', cursor: '' })
      .where('id', 'in', idsIn(ids, 'text'))
      .where('state', '<>', 'deleted')
      .execute()
  })
}

/** Judges the changed contacts of one account; resolves with how many marks there were, undefined for none. */
async function takeChanges(deps: UpkeepDeps, passed: PassedOver): Promise<number | undefined> {
  const { store, clock } = deps
  // All marks up to the last one are deleted with the verdicts.
  const upTo = await wholeTo(store.read, 'segment_changes')
  const first = await store.read
    .selectFrom('segment_changes')
    .select('account_id')
    .where('id', '<=', upTo)
    .where('account_id', 'not in', idsIn(passedNow(passed, clock.now()), 'text'))
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (first === undefined) return undefined
  const { account_id: accountId } = first
  const segments = await segmentsOfAccount(store, accountId)
  const some = await store.read
    .selectFrom('segment_changes')
    .select(['id', 'contact_id'])
    .where('account_id', '=', accountId)
    .where('id', '<=', upTo)
    .orderBy('id')
    .limit(contactsALook(segments.length))
    .execute()
  const changesUpTo = some.at(-1)?.id ?? 0
  const ids = [...new Set(some.flatMap((one) => one.contact_id ?? []))]
  await apart(deps, passed, accountId, async () => {
    await deps.dates?.changed(accountId, ids)
    await judgeSome(deps, accountId, { segments, ids, changesUpTo })
  })
  return some.length
}

/** Judges the contacts of one account for whom time has changed a rule's verdict. */
async function takeDue(deps: UpkeepDeps, passed: PassedOver): Promise<boolean> {
  const { store, clock } = deps
  const now = clock.now()
  const due = await store.read
    .selectFrom('segment_due')
    .innerJoin('segments', 'segments.id', 'segment_due.segment_id')
    .select(['account_id', 'contact_id'])
    .where('at', '<=', now)
    .where('state', '<>', 'deleted')
    .where('account_id', 'not in', idsIn(passedNow(passed, now), 'text'))
    .orderBy('at')
    .limit(contactsALook(mostSegments))
    .execute()
  const accountId = due[0]?.account_id
  if (accountId === undefined) return false
  const theirs = due.filter((one) => one.account_id === accountId)
  const ids = [...new Set(theirs.map((one) => one.contact_id))]
  const segments = await segmentsOfAccount(store, accountId)
  await apart(deps, passed, accountId, () =>
    judgeSome(deps, accountId, { segments, ids, isDue: true }),
  )
  return true
}

/** Judges some more contacts for segments that are being filled; resolves with whether there are such segments. */
async function fillSome(deps: UpkeepDeps, passed: PassedOver): Promise<boolean> {
  const filling = await nextToFill(deps.store.read, passedNow(passed, deps.clock.now()))
  if (filling === undefined) return false
  const { accountId, ...judging } = filling
  await apart(deps, passed, accountId, () => judgeAll(deps, accountId, judging))
  return true
}

/** Judges some contacts by all segments of the account. */
async function judgeSome(
  deps: UpkeepDeps,
  accountId: string,
  {
    segments,
    ids,
    ...written
  }: Pick<SegmentLook, 'segments' | 'changesUpTo' | 'isDue'> & { ids: readonly string[] },
): Promise<void> {
  const contacts = await deps.store.read
    .selectFrom('contacts')
    .selectAll()
    .where('id', 'in', idsIn(ids, 'text'))
    .execute()
  const known = new Set(contacts.map(({ id }) => id))
  const gone = ids.filter((id) => !known.has(id))
  await judgeAll(deps, accountId, { segments, contacts, gone, ...written })
}

const segmentsOfAccount = ({ read }: Store, accountId: string) =>
  read
    .selectFrom('segments')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('state', '<>', 'deleted')
    .execute()

// Starting a thread takes 0.2 s of a processor.
const stayMs = 60_000
const everyMs = 1_000

/**
 * Keeps segments as long as there is something to do within a minute; `rest` waits for so long, or until somebody
 * rings.
 */
export async function stayWithSegments(
  deps: UpkeepDeps,
  signal: AbortSignal,
  rest: (atMostMs: number) => Promise<void>,
): Promise<void> {
  const passed: PassedOver = new Map()
  for (let idleSince = deps.clock.now(); !signal.aborted; ) {
    if ((await segmentsWait(deps)) || (await deps.dates?.waits())) {
      await keepSegments(deps, signal, { passed, gatherMs })
      idleSince = deps.clock.now()
    }
    if (!isRecent(idleSince, deps.clock.now(), stayMs)) return
    await rest(everyMs)
  }
}
