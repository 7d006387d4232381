import { counted } from '../amounts/index.js'
import { type Clock, isoTime } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { Read, Store } from '../store/index.js'
import {
  type Automation,
  type Crowd,
  findAutomation,
  refuseArchived,
  type Versions,
} from './definition/index.js'
import { automationStanding, countLive, type HeldRelease, type RunsFilter } from './runs/index.js'
import { liveAsked, type RunsAskedFor } from './runs-asked.js'
import {
  type Backfill,
  crowdOf,
  findBackfill,
  type JudgedCrowd,
  judgeBackfill,
  moveRuns,
  newestVersion,
  planMove,
  planResume,
  type ResumePlan,
  resumeAutomation,
  startBackfill,
  type TakeOutTask,
} from './upkeep/index.js'

interface CourseDeps {
  store: Store
  clock: Clock
  versions: Versions
}

/** What a pause is answered with. */
export const shownPause = ({ id, status, paused_at }: Automation) => ({
  id,
  status,
  message: 'Automation paused: nobody takes a step until it is resumed',
  dryRun: false,
  pausedAt: isoTime(paused_at ?? 0),
})

/** What a pause would do. Throws a 409 as the pause does. */
export function wouldPause(found: Automation) {
  refuseArchived(found)
  const { id, status, paused_at, running, waiting } = found
  const pausedAt = paused_at === null ? null : isoTime(paused_at)
  const live = counted(running + waiting, 'run')
  const message =
    pausedAt === null
      ? `Nothing was changed: ${live} would take no step until it is resumed`
      : `Nothing was changed: it is paused, with ${live} under way`
  return { id, status, message, dryRun: true, pausedAt }
}

/** What stopping those runs would do. */
export async function wouldTakeOut(read: Read, found: Automation, filter: RunsFilter) {
  const total = await countLive(read, found, filter)
  const fit = `${counted(total, 'run')} ${total === 1 ? 'fits' : 'fit'}`
  return { dryRun: true, total, message: `Nothing was cancelled: ${fit}` }
}

/** Whom a request took out, as the page of that work says it. */
export const takenOutWords = ({
  step,
  version,
  waiting,
}: {
  step?: string | undefined
  version?: number | undefined
  waiting?: string | undefined
}): string => {
  const parts = [
    step === undefined ? '' : `at the step ${step}`,
    version === undefined ? '' : `in version ${version}`,
    waiting === undefined ? '' : waiting === 'held' ? 'held' : 'waiting for what stops them',
  ].filter((one) => one !== '')
  return `${parts.length === 0 ? 'Everybody who is in it' : parts.join(', ')}, by the API`
}

// The client waits so long; the appliance does the rest by itself.
const patienceMs = 2_000

/** Resumes an automation of the account, or says what would happen. Throws a 404, or a 409 where nothing is held. */
export async function resumeFor(
  deps: CourseDeps,
  found: Automation,
  {
    overdue = 'shift',
    dryRun = false,
  }: { overdue?: HeldRelease | undefined; dryRun?: boolean | undefined },
) {
  const { store, clock, versions } = deps
  const plan = await planResume({ read: store.read, versions }, found, clock.now())
  const { id, status } = found
  const { held, mails: mailsAtOnce, isAll } = plan
  const told = { id, status, dryRun, held, mailsAtOnce, isAll }
  if (dryRun) {
    const message = `${heldWords(plan)} held; nothing was changed`
    return { ...told, released: 0, message }
  }
  const until = clock.now() + patienceMs
  const { released, isDone } = await resumeAutomation(deps, found, overdue, { until })
  const message = `Automation resumed: ${counted(released, 'run')} ${released === 1 ? 'goes' : 'go'} on${isDone ? '' : ', the others within minutes'}`
  return { ...told, released, message }
}

const heldWords = ({ held, isAll }: Pick<ResumePlan, 'held' | 'isAll'>) =>
  `${isAll ? '' : 'More than '}${counted(held, 'run')} ${held === 1 ? 'is' : 'are'}`

/**
 * Moves some of the runs that are to move, or says which are. Throws a 409 or 422 for a version that was never enabled.
 */
export async function moveFor(
  deps: Pick<CourseDeps, 'store' | 'clock'> & { automate: () => void },
  automation: Pick<Automation, 'id' | 'name'>,
  {
    version: given,
    instead: others = [],
    only: asked,
    dryRun = false,
  }: {
    version?: number | undefined
    instead?: readonly { step: string; begins: string }[] | undefined
    only?: Omit<RunsAskedFor, 'status' | 'reason'> | undefined
    dryRun?: boolean | undefined
  },
  most: number,
) {
  const { read } = deps.store
  const version = given ?? (await newestVersion(read, automation))
  const instead = Object.fromEntries(others.map(({ step, begins }) => [step, begins]))
  const only = asked && (await liveAsked(read, automation.id, asked))
  const moved = dryRun ? 0 : await moveRuns(deps, automation, version, { most, instead, only })
  // A run that begins another step is due at once.
  if (moved > 0) deps.automate()
  const groups = await planMove(read, automation, version, { instead, only })
  const left = groups.reduce((sum, { stays, runs }) => sum + (stays === null ? runs : 0), 0)
  return { version, dryRun, moved, left, groups }
}

// The client waits while so many are judged: a few hundred milliseconds.
const mostJudged = 20_000

/** Who of a list or segment would enter now, and why not the others. Throws a 404 or 422. */
export const judgeCrowd = (
  deps: CourseDeps,
  automation: Automation,
  crowd: Crowd,
): Promise<JudgedCrowd> => judgeBackfill(deps, automation, crowd, mostJudged)

/** Starts the automation for a list or segment, or says who would enter. Throws a 404, 409 or 422. */
export async function startFor(
  deps: CourseDeps & { automate: () => void },
  automation: Automation,
  {
    crowd,
    perHour,
    dryRun = false,
  }: { crowd: Crowd; perHour: number; dryRun?: boolean | undefined },
) {
  const judged = await judgeCrowd(deps, automation, crowd)
  if (!dryRun) {
    await startBackfill(deps, automation, { crowd, perHour })
    deps.automate()
  }
  return shownJudged(judged, { perHour, dryRun })
}

const shownJudged = (
  { name, seen, starts, again, refused, isAll }: JudgedCrowd,
  { perHour, dryRun }: { perHour: number; dryRun: boolean },
) => ({
  dryRun,
  name,
  people: seen,
  starts,
  again,
  refused: Object.fromEntries(refused),
  isAll,
  perHour,
  message: dryRun
    ? 'Nothing was started'
    : `It begins for “${name}”, ${counted(perHour, 'person', 'people')} an hour`,
})

/** How far a start is, as clients see it. */
export function shownStart(row: Backfill) {
  const crowd = crowdOf(row)
  return {
    listId: 'listId' in crowd ? crowd.listId : null,
    segmentId: 'segmentId' in crowd ? crowd.segmentId : null,
    perHour: row.per_hour,
    seen: row.seen,
    started: row.started,
    startedAt: isoTime(row.created_at),
    endedAt: row.ended_at === null ? null : isoTime(row.ended_at),
  }
}

/** The last start of an automation of the account. Throws a 404. */
export async function startAnswer(read: Read, accountId: string, id: string) {
  const automation = await findAutomation(read, accountId, id)
  const row = await findBackfill(read, automation.id)
  if (row !== undefined) return shownStart(row)
  throw new ApiError('not_found', 'The automation was never started for a list or a segment')
}

/** How far a stop of many runs is, as clients see it. */
export const shownTakeOut = ({
  id,
  state,
  done,
  total,
  result,
  begunAt,
  endedAt,
}: TakeOutTask) => ({
  id: String(id),
  state,
  cancelled: done,
  total,
  reason: result.reason ?? null,
  begunAt: isoTime(begunAt),
  endedAt: endedAt === null ? null : isoTime(endedAt),
})

/** How runs stand, as clients see it. */
export async function standingAnswer(read: Read, automation: Automation) {
  const { steps, waits } = await automationStanding(read, automation)
  return {
    pausedAt: automation.paused_at === null ? null : isoTime(automation.paused_at),
    steps: steps.map(({ version, key, type, counts, present }) => ({
      version,
      key,
      type,
      present,
      counts:
        counts &&
        Object.fromEntries(
          Object.entries(counts).filter(
            ([name, value]) => name !== 'id' && name !== 'version' && typeof value === 'number',
          ),
        ),
    })),
    waits,
  }
}
