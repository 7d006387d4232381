import type { LaneDue } from '../deliveries/index.js'

/** Rings that come in one turn of the event loop go out as one message, a lane once. */
export function makeDoorbell(deliver: (due: readonly LaneDue[]) => void) {
  let waiting = new Map<string, number>()
  const flush = () => {
    const due = [...waiting].map(([lane, dueAt]) => ({ lane, dueAt }))
    waiting = new Map()
    deliver(due)
  }
  return (due: readonly LaneDue[]) => {
    if (waiting.size === 0 && due.length > 0) setImmediate(flush)
    for (const { lane, dueAt } of due) {
      const known = waiting.get(lane)
      if (known === undefined || dueAt < known) waiting.set(lane, dueAt)
    }
  }
}
