import { shownCount } from '../amounts/index.js'
import { type Broadcast, broadcastStanding, recipientCount } from '../broadcasts/index.js'
import { type Clock, pause } from '../clock/index.js'
import { shownAge } from './queue-show.js'

/** What the watch needs; `out` is a terminal, a file or a test's. */
interface Watch {
  look: () => Promise<{ broadcast: Broadcast; stop: string | null }>
  clock: Clock
  out: { isTTY?: boolean; columns?: number; write(text: string): unknown }
  /** Writes a line of JSON at each look instead. */
  json: boolean
}

const everyMs = 1_000
// Without a terminal every line stays, so there are fewer.
const everyMsInLines = 5_000
// The rate is measured over the last looks, so that it is not that of hours ago.
const samplesKept = 10

/** How many mails had ended at a time. */
interface Sample {
  at: number
  done: number
}

/**
 * Shows a campaign's progress until its sending ends: one line that is overwritten on a terminal, a
 * line every few seconds elsewhere.
 */
export async function watchBroadcast({ look, clock, out, json }: Watch): Promise<void> {
  const live = out.isTTY === true && !json
  const samples: Sample[] = []
  for (;;) {
    const { broadcast, stop } = await look()
    const { status } = broadcastStanding(broadcast, stop, clock.now())
    samples.push({ at: clock.now(), done: broadcast.recipients - broadcast.waiting })
    if (samples.length > samplesKept) samples.shift()
    const progress = progressOf(broadcast, samples)
    const going = status === 'sending' || status === 'scheduled'
    if (json) out.write(`${JSON.stringify({ status, ...progress })}\n`)
    else {
      const line = progressLine(status, progress)
      // Clears the rest of a longer line.
      if (live) out.write(`\r\u001b[K${line.slice(0, (out.columns ?? 80) - 1)}`)
      else out.write(`${line}\n`)
    }
    if (!going) {
      if (live) out.write('\n')
      return
    }
    await pause(clock, live ? everyMs : everyMsInLines)
  }
}

/** How far a campaign has come. */
export interface SendingProgress {
  /** Finished mails, of the total. */
  done: number
  total: number
  /** 0 until two looks were taken. */
  perSecond: number
  /** Undefined while nothing moves. */
  leftMs: number | undefined
}

/** How far a campaign has come, and how fast it goes by the earlier samples. */
function progressOf(broadcast: Broadcast, samples: readonly Sample[]): SendingProgress {
  const done = broadcast.recipients - broadcast.waiting
  // The count of recipients is taken when the campaign is sent; the list may have grown by then.
  const total = Math.max(recipientCount(broadcast), broadcast.recipients)
  const [first] = samples
  const last = samples.at(-1)
  const ms = first === undefined || last === undefined ? 0 : last.at - first.at
  const perSecond = ms === 0 ? 0 : (((last?.done ?? 0) - (first?.done ?? 0)) / ms) * 1_000
  const leftMs = perSecond > 0 ? ((total - done) / perSecond) * 1_000 : undefined
  return { done, total, perSecond: Math.max(0, perSecond), leftMs }
}

const barWidth = 20

/** In ASCII, as the line is rewritten in terminals of every kind, logs included. */
function progressLine(status: string, { done, total, perSecond, leftMs }: SendingProgress): string {
  const share = total === 0 ? 0 : done / total
  const filled = Math.floor(share * barWidth)
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]`
  const percent = `${Math.floor(share * 100)} %`.padStart(5)
  const counts = `${shownCount(done)} of ${shownCount(total)}`
  const speed = `${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s`
  const end = leftMs === undefined || done === total ? '' : `  about ${shownAge(leftMs)} left`
  return `${bar} ${percent}  ${counts}  ${speed}${end}  ${status}`
}
