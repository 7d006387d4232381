import { nextTurn } from '../../bounded/index.js'
import { prepared, type Read, unindexed } from '../../store/index.js'
import { type Automation, type BlockedReason, readDefinition } from '../definition/index.js'
import { type CountedSlice, counted, countInSlices, liveIds } from './count-in-slices.js'
import { type LatelyCounted, makeCountLately } from './count-lately.js'
import { blockedReason } from './hold.js'
import { presentAtSteps, type StepStanding } from './present.js'

/** Why live runs do not go on by themselves: an operator or a restore holds them, or they lack something. */
export interface Waits {
  kind: 'held' | 'blocked'
  reason: string
  runs: number
}

/** How the runs of an automation stand, step by step: of its shown version, and of others with live runs. */
export async function automationStanding(
  read: Read,
  { id, account_id, version }: Pick<Automation, 'id' | 'account_id' | 'version'>,
): Promise<{ steps: StepStanding[]; waits: Waits[] }> {
  const rows = await read
    .selectFrom('automation_steps')
    .selectAll()
    .where('automation_id', '=', id)
    .orderBy('id')
    .execute()
  const present = await presentAtSteps(
    read,
    id,
    rows.map((row) => row.id),
  )
  const occupied = new Set(rows.filter((row) => present.has(row.id)).map((row) => row.version))
  const steps = rows
    .filter((row) => row.version === version || occupied.has(row.version))
    .map((row): StepStanding => {
      const { version, key, type } = row
      return { version, key, type, counts: row, present: present.get(row.id) ?? 0 }
    })
  const isDraft = !rows.some((row) => row.version === version)
  return {
    steps: isDraft ? [...steps, ...(await draftSteps(read, id, version))] : steps,
    waits: await waitsOf(read, { id, account_id }),
  }
}

/** A version that was never enabled has no rows of steps yet; its definition names them. */
async function draftSteps(read: Read, id: string, version: number): Promise<StepStanding[]> {
  const { definition } = await readDefinition(read, id, version)
  return definition.steps.map(({ key, type }) => ({
    version,
    key,
    type,
    counts: null,
    present: 0,
  }))
}

// So many rows are read while a page waits: some milliseconds. An account that is stopped may have a million of them.
const few = 5_000
const waitsLately = makeCountLately<Waits[]>({ many: few, patience: few })

/** The same for a page, which does not wait for a long count: with `isAll` false there are at least so many. */
export const latelyWaitsOf = (
  read: Read,
  automation: Pick<Automation, 'id' | 'account_id'>,
  now: number,
): Promise<LatelyCounted<Waits[]>> =>
  waitsLately(automation.id, { now, nothing: [] }, (soFar) => waitsOf(read, automation, soFar))

/** Why live runs of an automation do not go on by themselves, and how many for each reason. */
export async function waitsOf(
  read: Read,
  { id, account_id: accountId }: Pick<Automation, 'id' | 'account_id'>,
  soFar: (waits: Waits[], rows: number) => void = () => {},
): Promise<Waits[]> {
  const waits = new Map<string, Waits>()
  let rows = 0
  const told = (some: number) => {
    rows += some
    soFar([...waits.values()], rows)
  }
  const note = (kind: Waits['kind'], reason: string) => {
    const known = waits.get(`${kind} ${reason}`)
    waits.set(`${kind} ${reason}`, { kind, reason, runs: 1 + (known?.runs ?? 0) })
  }
  await inSlices(
    (after) => heldOf(read, { id, after }),
    ({ held_reason }) => note('held', held_reason ?? ''),
    told,
  )
  await inSlices(
    (after) => blockedOf(read, { accountId, after }),
    ({ automation_id, blocked, held_at }) => {
      const reason = blockedReason(blocked)
      if (automation_id === id && held_at === null && reason !== undefined) note('blocked', reason)
    },
    told,
  )
  return [...waits.values()]
}

// A millisecond or two of the thread: each row is read.
const perLook = 1_000

/** Each row of a long list, with turns for others in between. */
async function inSlices<Row extends { id: string }>(
  slice: (after: string) => Promise<Row[]>,
  each: (row: Row) => void,
  told: (rows: number) => void,
): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await slice(after)
    for (const row of rows) each(row)
    told(rows.length)
    const last = rows.at(-1)
    if (last === undefined || rows.length < perLook) return
    after = last.id
    await nextTurn()
  }
}

const heldOf = prepared<{ id: string; after: string }, { id: string; held_reason: string | null }>(
  (db, { id, after }) =>
    db
      .selectFrom('automation_live')
      .select(['id', 'held_reason'])
      .where('held_at', 'is not', null)
      .where(unindexed('automation_id'), '=', id)
      .where('id', '>', after)
      .orderBy('id')
      .limit(perLook),
)

const blockedOf = prepared<
  { accountId: string; after: string },
  { id: string; automation_id: string; blocked: string | null; held_at: number | null }
>((db, { accountId, after }) =>
  db
    .selectFrom('automation_live')
    .select(['id', 'automation_id', 'blocked', 'held_at'])
    .where('account_id', '=', accountId)
    .where('blocked', 'is not', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(perLook),
)

/** The live runs of all accounts: by status, and how many are blocked or held, by `reason`. */
export async function liveFigures(read: Read): Promise<{
  running: number
  waiting: number
  blocked: Map<BlockedReason | 'held', number>
}> {
  const { running, waiting } = await read
    .selectFrom('automations')
    .select((eb) => [
      eb.fn.sum<number | null>('running').as('running'),
      eb.fn.sum<number | null>('waiting').as('waiting'),
    ])
    .executeTakeFirstOrThrow()
  const counts = await countBlocked(read)
  const blocked = new Map<BlockedReason | 'held', number>()
  for (const [mark, runs] of counts) {
    const reason = blockedReason(mark)
    if (reason !== undefined) blocked.set(reason, runs + (blocked.get(reason) ?? 0))
  }
  blocked.set('held', await countInSlices((after) => heldSlice(read, { after })))
  return { running: running ?? 0, waiting: waiting ?? 0, blocked }
}

/** Counts blocked runs by the mark of each reason. */
async function countBlocked(read: Read): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (let last = ''; ; ) {
    const [next] = await nextMark(read, { last })
    if (next === undefined || next.mark === null) return counts
    const { mark } = next
    counts.set(mark, await countInSlices((after) => blockedSlice(read, { mark, after })))
    last = mark
  }
}

// These read an index that has only such rows.
const nextMark = prepared<{ last: string }, { mark: string | null }>((db, { last }) =>
  db
    .selectFrom('automation_live')
    .select((eb) => eb.fn.min('blocked').as('mark'))
    .where('blocked', '>', last),
)

const blockedSlice = prepared<{ mark: string; after: string }, CountedSlice>(
  (db, { mark, after }) => counted(db, liveIds(db).where('blocked', '=', mark), after),
)

const heldSlice = prepared<{ after: string }, CountedSlice>((db, { after }) =>
  counted(db, liveIds(db).where('held_at', 'is not', null), after),
)
