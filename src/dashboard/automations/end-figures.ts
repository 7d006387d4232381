import type { Automation } from '../../automations/index.js'

/** What became of everybody who has entered, in the words and by the groups of the chart and the tables. */
export function endFigures(one: Automation): { label: string; value: string }[] {
  const shown = (count: number) => count.toLocaleString('en-GB')
  return [
    { label: 'Came to the end', value: shown(one.completed) },
    { label: 'Left before it', value: shown(one.exited + one.failed + one.cancelled) },
    { label: 'Of these failed', value: shown(one.failed) },
    { label: 'Of these taken out', value: shown(one.cancelled) },
  ]
}
