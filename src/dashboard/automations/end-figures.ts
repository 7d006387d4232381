import { shownCount } from '../../amounts/index.js'
import type { Automation } from '../../automations/index.js'

/** What became of everybody who has entered, in the words and by the groups of the chart and the tables. */
export function endFigures(one: Automation): { label: string; value: string }[] {
  return [
    { label: 'Came to the end', value: shownCount(one.completed) },
    {
      label: 'Left, or a step ended it',
      value: shownCount(one.exited + one.failed + one.cancelled),
    },
    { label: 'Of these failed', value: shownCount(one.failed) },
    { label: 'Of these taken out', value: shownCount(one.cancelled) },
  ]
}
