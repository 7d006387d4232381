import type { Clock } from '../clock/index.js'
import type { Log } from '../log/index.js'
import type { HitRequest, Recorder } from './recorder.js'
import type { Copy } from './token.js'

export interface HandOverDeps {
  clock: Clock
  log: Log
  /** Gives hits to the thread that records them; resolves with whether that thread has them. */
  give: (hits: string) => Promise<boolean>
  /** Records hits here when that thread cannot take them: before it has started, after it has died or ended. */
  own: Noting
}

/** The part of a recorder that the listener needs. */
export type Noting = Pick<Recorder, 'note' | 'close'>

// Hits within this time go as one message. They are on disk within a second, of which the recorder takes 500 ms, and
// 50 ms to write.
const gatherMs = 100
// How much may wait while the thread does not answer: hits of some seconds, at 250 characters each.
const maxChars = 4_000_000

/**
 * The listener notes hits with this; it closes `own` at the end. The thread that answers only notes each hit as a
 * piece of text: when it recorded itself, V8 copied the visits, which live for half a second, and nobody was answered
 * during the 5 ms that a group took to write.
 */
export function openHandOver({ clock, log, give, own }: HandOverDeps): Noting {
  let waiting: string[] = []
  let chars = 0
  let lost = 0
  let closing = false
  let isPlanned = false
  let cancel = () => {}
  let giving = Promise.resolve()

  const handOver = async () => {
    const hits = `[${waiting.join(',')}]`
    waiting = []
    chars = 0
    if (lost > 0) log.warn({ lost }, 'Opens and clicks came faster than they can be recorded')
    lost = 0
    if (!(await give(hits))) recordHits(own, hits)
  }

  /** One message at a time, so that a thread that does not answer is not flooded. */
  const plan = () => {
    if (isPlanned || closing) return
    isPlanned = true
    cancel = clock.after(gatherMs, () => {
      giving = handOver().finally(() => {
        isPlanned = false
        if (waiting.length > 0) plan()
      })
    })
  }

  return {
    note({ accountId, emailId, deliveryId }, asked, at = clock.now()) {
      const copy = { accountId, emailId, deliveryId }
      const hit = JSON.stringify({ copy, asked, at } satisfies NotedHit)
      if (chars + hit.length > maxChars) lost++
      else {
        waiting.push(hit)
        chars += hit.length
      }
      plan()
    },
    async close() {
      closing = true
      cancel()
      await giving
      if (waiting.length > 0) await handOver()
      await own.close()
    },
  }
}

interface NotedHit {
  copy: Copy
  asked: HitRequest
  at: number
}

/** For the thread that records: notes the hits that `give` was given. */
export function recordHits(recorder: Pick<Noting, 'note'>, hits: string): void {
  for (const { copy, asked, at } of JSON.parse(hits) as NotedHit[]) recorder.note(copy, asked, at)
}
