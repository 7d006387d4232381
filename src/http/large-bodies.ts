import type { Clock } from '../clock/index.js'

/** Ends a turn; the second time it does nothing. */
export type EndTurn = () => void

/** Lets large bodies become values in the order of their arrival, each within `longestMs`. */
export type LargeBodies = (bytes: number) => Promise<EndTurn>

/**
 * Room for `maxBytes` of text whose requests are under way, or for one larger body. A body's values take several times
 * its size, and live until all of it is on disk: of eight batches that came together all were values while the first
 * was written. The others wait as bytes, outside of V8's heap, where nobody copies them. After `longestMs` a request no
 * longer blocks others, as it may fetch a file from a slow server; and nobody waits longer than that, whatever another
 * account's requests do.
 */
export function makeLargeBodies(clock: Clock, maxBytes: number, longestMs: number): LargeBodies {
  const waiting: { bytes: number; begin: () => void }[] = []
  let usedBytes = 0
  const letIn = () => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if (usedBytes > 0 && usedBytes + next.bytes > maxBytes) return
      waiting.shift()
      next.begin()
    }
  }
  return (bytes) =>
    new Promise((resolve) => {
      const begin = () => {
        stopWaiting()
        usedBytes += bytes
        let isOver = false
        const end = () => {
          if (isOver) return
          isOver = true
          cancel()
          usedBytes -= bytes
          letIn()
        }
        const cancel = clock.after(longestMs, end)
        resolve(end)
      }
      const entry = { bytes, begin }
      const stopWaiting = clock.after(longestMs, () => {
        waiting.splice(waiting.indexOf(entry), 1)
        begin()
      })
      waiting.push(entry)
      letIn()
    })
}
