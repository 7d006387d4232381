import type { StreamDue } from '../deliveries/index.js'

/** Rings that come in one turn of the event loop go out as one message, a stream once. */
export function makeDoorbell(deliver: (due: readonly StreamDue[]) => void) {
  let waiting = new Map<string, StreamDue>()
  const flush = () => {
    const due = [...waiting.values()]
    waiting = new Map()
    deliver(due)
  }
  return (due: readonly StreamDue[]) => {
    if (waiting.size === 0 && due.length > 0) setImmediate(flush)
    for (const item of due) {
      const stream = `${item.class} ${item.accountId} ${item.lane}`
      const known = waiting.get(stream)
      if (known === undefined || item.dueAt < known.dueAt) waiting.set(stream, item)
    }
  }
}
