import { isoTime } from '../../clock/index.js'
import type { Automation, AutomationDefinition } from '../definition/index.js'
import type { Run } from '../runs/index.js'
import type { CohortCounts } from './cohort.js'
import type { AutomationPreview } from './preview.js'

/** An automation as clients see it in a list. */
export function shownAutomation(automation: Automation) {
  const { id, name, status, version, enrolled, created_at, updated_at } = automation
  const { running, waiting, completed, exited, failed, cancelled } = automation
  return {
    id,
    name,
    status,
    version,
    runs: { running, waiting, completed, exited, failed, cancelled },
    enrolledContacts: enrolled,
    createdAt: isoTime(created_at),
    updatedAt: isoTime(updated_at),
  }
}

/** An automation with its steps, connections and settings. */
export function shownDetail(automation: Automation, definition: AutomationDefinition) {
  const { steps, connections, settings = {} } = definition
  return { ...shownAutomation(automation), steps, connections, settings }
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

/** The answer to a creation. */
export function shownMade({ id, name, status }: Automation) {
  return { id, name, status, message: 'Automation created; enable it to let its event start it' }
}

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

/** A walk through an automation, as clients see it. */
export function shownPreview(
  automationId: string,
  { version, lines, runs, refused, cut, stepOf }: AutomationPreview,
) {
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
    cut,
  }
}

/** What became of the contacts that a simulation sent through, by step and by end. */
export function shownCohort({ contacts, started, steps, ends, cut }: CohortCounts) {
  const results = [...steps].map(([key, counts]) => [key, Object.fromEntries(counts)])
  return {
    contacts,
    started,
    steps: Object.fromEntries(results),
    ends: Object.fromEntries(ends),
    cut,
  }
}
