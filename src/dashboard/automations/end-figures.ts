import { shownCount } from '../../amounts/index.js'
import type { Automation, AutomationDefinition, EndKind } from '../../automations/index.js'

/** How pages call those who did not reach the end of a way, by how it ended for them: only the last kind has left. */
export const endLabels: Readonly<Record<EndKind, string>> = {
  step: 'Ended by a step',
  event: 'Ended by an event',
  goal: 'Ended at the goal',
  left: 'Left on the way',
}

/** Explains below the figures who is counted as what. */
export const whoLeft =
  'A step has ended it for whoever came to an “End”, or waited in vain where no way leads on. Who left on the way unsubscribed, bounced or complained, was deleted or taken out, or it failed for them; “People” tells the reason of each.'

/** Whether anybody can reach a goal, or could in an older version. */
export const hasGoal = (
  { reached }: Pick<Automation, 'reached'>,
  { settings }: Pick<AutomationDefinition, 'settings'>,
): boolean => settings?.goal !== undefined || reached > 0

type Counters = Pick<
  Automation,
  'completed' | 'exited' | 'failed' | 'cancelled' | 'by_step' | 'by_event' | 'by_goal'
>

/** What became of everybody who has entered, in the words and groups of the chart and the tables. */
export function endFigures(one: Counters): { label: string; value: string }[] {
  const meant = one.by_step + one.by_event + one.by_goal
  const left = Math.max(0, one.exited - meant) + one.failed + one.cancelled
  return [
    { label: 'Came to the end', value: shownCount(one.completed) },
    { label: endLabels.step, value: shownCount(one.by_step) },
    ...(one.by_event === 0 ? [] : [{ label: endLabels.event, value: shownCount(one.by_event) }]),
    ...(one.by_goal === 0 ? [] : [{ label: endLabels.goal, value: shownCount(one.by_goal) }]),
    { label: endLabels.left, value: shownCount(left) },
    ...(one.failed === 0 ? [] : [{ label: 'Of these failed', value: shownCount(one.failed) }]),
    ...(one.cancelled === 0
      ? []
      : [{ label: 'Of these taken out', value: shownCount(one.cancelled) }]),
  ]
}
