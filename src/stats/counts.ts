import type { FigureCounts } from '../store/index.js'

export type Counts = FigureCounts
export type Counter = keyof FigureCounts

export const noCounts = (): Counts => ({
  ...{ mails: 0, accepted: 0, suppressed: 0, answered: 0, delivered: 0, relayed: 0 },
  ...{ bounced_hard: 0, bounced_soft: 0, failed: 0, deferred: 0 },
  ...{ complained: 0, complained_unproved: 0, unsubscribed: 0 },
  ...{ opened: 0, opened_unique: 0, opened_machine: 0 },
  ...{ clicked: 0, clicked_unique: 0, clicked_machine: 0 },
})

export const counters = Object.keys(noCounts()) as Counter[]

export function addTo(counts: Counts, added: Partial<Counts>): void {
  for (const counter of counters) counts[counter] += added[counter] ?? 0
}
