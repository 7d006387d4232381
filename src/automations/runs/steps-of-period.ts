import { nextTurn } from '../../bounded/index.js'
import { columnOf } from '../../runs/index.js'
import { firstUuidAt, type Read } from '../../store/index.js'
import { readHistory } from './live.js'

/** What happened at a step to those who began in a period. */
export interface PeriodStep {
  /** How many stand there now. */
  present: number
  entered: number
  mails: number
  /** How they left the step: `done`, `skipped`, `met`, `not_met`, `received`, `timed_out` or `branch:KEY`. */
  ways: Map<string, number>
}

/** The same for a version's steps, by their numbers. */
export interface PeriodSteps {
  steps: ReadonlyMap<number, PeriodStep>
  runs: number
  /** False: there are more, and only the latest of them were counted. */
  isAll: boolean
}

// Some milliseconds of the thread; in between others have their turn.
const perLook = 500
/** Runs whose histories one page reads. */
const mostRead = 5_000

/** Follows those who began a version of an automation since a time, by their histories: the latest 5,000 of them. */
export async function stepsOfPeriod(
  read: Read,
  automationId: string,
  { version, from }: { version: number; from: number },
): Promise<PeriodSteps> {
  const steps = new Map<number, PeriodStep>()
  const at = (stepId: number) => {
    const known = steps.get(stepId) ?? { present: 0, entered: 0, mails: 0, ways: new Map() }
    steps.set(stepId, known)
    return known
  }
  let runs = 0
  let isAll = true
  for (const table of ['automation_live', 'automation_runs'] as const) {
    for (let below: string | undefined, looked = 0; ; ) {
      const rows = await begunFrom(read, table, { automationId, from, below })
      for (const row of rows) {
        if (row.version !== version) continue
        runs += 1
        follow(row, at, table === 'automation_live')
      }
      looked += rows.length
      below = rows.at(-1)?.id
      if (rows.length < perLook) break
      if (looked >= mostRead) {
        isAll = false
        break
      }
      await nextTurn()
    }
  }
  return { steps, runs, isAll }
}

interface BegunRow {
  id: string
  version: number
  step_id: number
  history: string
  started_at: number
}

/** Ids rise with the beginning of runs. */
const begunFrom = (
  read: Read,
  table: 'automation_live' | 'automation_runs',
  { automationId, from, below }: { automationId: string; from: number; below: string | undefined },
): Promise<BegunRow[]> =>
  read
    .selectFrom(table)
    .select(['id', 'version', 'step_id', 'history', 'started_at'])
    .where('automation_id', '=', automationId)
    .where('id', '>', firstUuidAt(from))
    .$if(below !== undefined, (query) => query.where('id', '<', below ?? ''))
    .orderBy('id', 'desc')
    .limit(perLook)
    .execute()

function follow(row: BegunRow, at: (stepId: number) => PeriodStep, isLive: boolean): void {
  const left = new Set<number>()
  for (const { stepId, result } of linesOf(row)) {
    // The line of an end stands at the step where the run was.
    if (/^(ended|goal|exit|cut)\b/.test(result)) continue
    const column = columnOf(result)
    if (column === undefined || column === 'failed') continue
    const step = at(stepId)
    step.entered += 1
    left.add(stepId)
    if (result === 'sent') step.mails += 1
    const way = result.startsWith('branch:') ? result : column
    step.ways.set(way, 1 + (step.ways.get(way) ?? 0))
  }
  const last = at(row.step_id)
  if (isLive) last.present += 1
  // Whoever is at the step, or ended there, has come to it, too.
  if (isLive || !left.has(row.step_id)) last.entered += 1
}

function linesOf({ history, started_at }: BegunRow) {
  try {
    return readHistory(history, started_at)
  } catch {
    return []
  }
}
