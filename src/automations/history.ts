import { limits } from './definition.js'
import type { HistoryEntry } from './run.js'

/**
 * A run's history with more entries, at most 200 in all: the first half stays as it is, and of what
 * follows the oldest are cut. A mark (`stepId` 0, `cut:<n>`) stands in their place.
 */
export function appended(
  history: readonly HistoryEntry[],
  entries: readonly HistoryEntry[],
): HistoryEntry[] {
  const all = [...history, ...entries]
  if (all.length <= limits.historyEntries) return all
  const half = limits.historyEntries / 2
  const early = all.slice(0, half)
  const marked = all[half]?.stepId === 0 ? all[half] : undefined
  const rest = all.slice(half + (marked === undefined ? 0 : 1))
  const late = rest.slice(-(half - 1))
  const before = Number(marked?.result.slice('cut:'.length) ?? 0)
  const cut = before + rest.length - late.length
  const at = late[0]?.at ?? 0
  return [...early, { stepId: 0, at, result: `cut:${cut}` }, ...late]
}
