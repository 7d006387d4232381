import type { Clock } from '../clock/index.js'
import type { Log } from '../log/index.js'
import type { HitRequest, Recorder } from './recorder.js'
import type { Copy } from './token.js'

export interface HandOverDeps {
  clock: Clock
  log: Log
  /** Gives hits to the thread that records them; resolves with whether it has them. */
  give: (hits: string) => Promise<boolean>
  /** Records them here when that thread cannot have them: before it has started, after it has died or ended. */
  own: Noting
}

/** As much of a recorder as the listener wants. */
export type Noting = Pick<Recorder, 'note' | 'close'>

// What came within so long goes as one message. On disk it is within a second, of which the recorder takes 500 ms and
// 50 to write.
const gatherMs = 100
// What waits while the thread does not answer: hits of some seconds, at 250 characters each.
const maxChars = 4_000_000

/**
 * What the listener notes hits with; closes `own` at the end. The thread that answers only writes them down, each as one piece of text: of
 * visits, which live for half a second, V8 made copies and old garbage, and a group of them took 5 ms to write, in
 * which nobody was answered.
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

  /** One message at a time: a thread that does not answer is not buried in them. */
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

/** In the thread that records: what `give` was given. */
export function recordHits(recorder: Pick<Noting, 'note'>, hits: string): void {
  for (const { copy, asked, at } of JSON.parse(hits) as NotedHit[]) recorder.note(copy, asked, at)
}
