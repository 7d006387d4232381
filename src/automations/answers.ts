import { type Clock, isoTime } from '../clock/index.js'
import { cursorOf, idInCursor, pageOf, type Read } from '../store/index.js'
import {
  type Automation,
  automationWarnings,
  listAutomations,
  readDefinition,
  toldFaults,
  type Versions,
} from './definition/index.js'
import {
  explainRun,
  findRuns,
  listRuns,
  type Run,
  type RunsAsked,
  type RunsFilter,
} from './runs/index.js'
import type { AutomationPreview, CohortCounts, UnseenDeed } from './trial/index.js'

/** A page of an account's automations, newest first. `cursor` comes from the page before. */
export async function automationPage(
  read: Read,
  accountId: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
) {
  const scope = `automations ${accountId}`
  const before = cursor === undefined ? undefined : idInCursor(cursor, scope)
  const found = await listAutomations(read, accountId, { limit: limit + 1, before })
  return pageOf(found, limit, ({ id }) => cursorOf(id, scope))
}

/** The same, as the API and commands answer it. */
export const automationsAnswer = ({
  page,
  ...more
}: Awaited<ReturnType<typeof automationPage>>) => ({
  automations: page.map(shownAutomation),
  ...more,
})

/** An automation as clients see it in a list. */
function shownAutomation(automation: Automation) {
  const { id, name, status, version, enrolled, reached, paused_at, created_at, updated_at } =
    automation
  const { running, waiting, completed, exited, failed, cancelled } = automation
  return {
    id,
    name,
    status,
    version,
    runs: { running, waiting, completed, exited, failed, cancelled },
    enrolledContacts: enrolled,
    reachedGoal: reached,
    pausedAt: paused_at === null ? null : isoTime(paused_at),
    createdAt: isoTime(created_at),
    updatedAt: isoTime(updated_at),
  }
}

/** An automation with its steps, connections and settings. */
export async function shownDetail(read: Read, automation: Automation) {
  const { definition } = await readDefinition(read, automation.id, automation.version)
  const { steps, connections, settings = {} } = definition
  return { ...shownAutomation(automation), steps, connections, settings }
}

/** The same, with warnings of what may fail. */
export const detailAnswer = async (read: Read, automation: Automation) => ({
  ...(await shownDetail(read, automation)),
  warnings: await warningsIn(read, automation),
})

async function warningsIn(read: Read, { id, account_id, version }: Automation) {
  const { definition } = await readDefinition(read, id, version)
  return toldFaults(await automationWarnings(read, account_id, definition))
}

// What a change of state means, for people.
const messages = {
  disabled: 'Automation disabled: no event starts it; runs under way finish',
  enabled: 'Automation enabled: its event starts it from now on',
  archived: 'Automation archived: its runs are cancelled',
} as const

/** What a change of state is answered with. */
export function shownState({ id, status }: Automation) {
  return { id, status, message: messages[status] }
}

/** The answer to enabling, with warnings of what may fail. */
export const enabledAnswer = async (read: Read, automation: Automation) => ({
  ...shownState(automation),
  warnings: await warningsIn(read, automation),
})

/** The answer to a creation. */
export function madeAnswer({ id, name, status }: Automation) {
  return { id, name, status, message: 'Automation created; enable it to let its event start it' }
}

/**
 * A page of an automation's runs. Live and ended runs are two tables but one list, newest first by their ids; the
 * cursor is the last id of the page before.
 */
export async function runPage(
  read: Read,
  id: string,
  { cursor, ...asked }: Omit<RunsAsked, 'before'> & { cursor?: string | undefined },
) {
  const scope = `runs ${id}`
  const before = cursor === undefined ? undefined : idInCursor(cursor, scope)
  const { runs, next } = await listRuns(read, id, { ...asked, before })
  return { runs, nextCursor: next === undefined ? null : cursorOf(next, scope) }
}

/** A page of the runs that fit a filter. */
export async function fittingPage(
  read: Read,
  id: string,
  { filter, limit, cursor }: { filter: RunsFilter; limit: number; cursor?: string | undefined },
) {
  const scope = `runs ${id}`
  const before = cursor === undefined ? undefined : idInCursor(cursor, scope)
  const { runs, next } = await findRuns(read, id, filter, { limit, before })
  return { runs, nextCursor: next === undefined ? null : cursorOf(next, scope) }
}

/** The same, as the API and commands answer it. */
export const runsAnswer = ({ runs, nextCursor }: Awaited<ReturnType<typeof runPage>>) => ({
  runs: runs.map(shownRun),
  hasMore: nextCursor !== null,
  nextCursor,
})

/** A run with its whole history, as clients see it. */
export function shownRun(run: Run) {
  const { startedAt, updatedAt, history, waitingFor, ...rest } = run
  return {
    ...rest,
    startedAt: isoTime(startedAt),
    updatedAt: isoTime(updatedAt),
    waitingFor: waitingFor && {
      ...waitingFor,
      until: waitingFor.until === null ? null : isoTime(waitingFor.until),
    },
    history: history.map(({ at, ...entry }) => ({ ...entry, at: isoTime(at) })),
  }
}

/** Why a run is where it is, in a sentence. */
export async function whyOf(
  { store, clock, versions }: { store: { read: Read }; clock: Clock; versions: Versions },
  { paused_at: pausedAt }: Automation,
  run: Run,
): Promise<string> {
  const { compiled } = await versions(store.read, run.automationId, run.version)
  return explainRun(compiled, run, clock.now(), pausedAt)
}

/** A walk through an automation, as clients see it. */
export function shownPreview({
  automationId,
  version,
  lines,
  runs,
  refused,
  unseen,
  cut,
  stepOf,
}: AutomationPreview) {
  return {
    automationId,
    version,
    lines: lines.map(({ at, event, ...line }) => ({
      at: isoTime(at),
      ...line,
      ...(event === undefined
        ? {}
        : { event: { name: event.name, at: isoTime(event.at), payload: event.payload } }),
    })),
    runs: runs.map(({ startedAt, ended, state }) => ({
      startedAt: isoTime(startedAt),
      endedAt: ended === null ? null : isoTime(ended.at),
      status: ended?.status ?? 'waiting',
      reason: ended?.reason ?? null,
      currentStep: state === undefined ? null : stepOf(state.stepId),
    })),
    refused: refused.map(({ at, reason }) => ({ at: isoTime(at), reason })),
    unseen: unseen.map(shownDeed),
    cut,
  }
}

/** What became of the contacts that a simulation sent through, by step and by end. */
export function shownCohort({
  contacts,
  started,
  refused,
  steps,
  ends,
  unseen,
  cut,
}: CohortCounts & Pick<AutomationPreview, 'unseen'>) {
  const results = [...steps].map(([key, counts]) => [key, Object.fromEntries(counts)])
  return {
    contacts,
    started,
    refused: Object.fromEntries(refused),
    steps: Object.fromEntries(results),
    ends: Object.fromEntries(ends),
    unseen: unseen.map(shownDeed),
    cut,
  }
}

/** An open or a click that a trial was told of, and that nobody would learn of. */
const shownDeed = ({ step, deed, why }: UnseenDeed) => ({ step, deed, why })
