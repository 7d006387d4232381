import { readFileSync } from 'node:fs'
import type { Clock } from '../clock/index.js'
import { type Meter, makeTally, type Snapshot, silentMeter } from '../metrics/index.js'
import type { StoreOptions } from '../store/index.js'

/** For the group commit: what `openStore` is given. */
export function countCommits(
  meter: Meter,
): Required<Pick<StoreOptions, 'onCommit' | 'onTurn' | 'wayThere'>> {
  return {
    onCommit(works, seconds) {
      meter.count('posthorn_commits_total', {})
      meter.count('posthorn_commit_works_total', {}, works)
      meter.observe('posthorn_commit_seconds', {}, seconds)
    },
    onTurn: (seconds) => meter.observe('posthorn_turn_wait_seconds', {}, seconds),
    wayThere: {
      transaction: (kind, seconds) =>
        meter.observe('posthorn_store_transaction_seconds', { kind }, seconds),
      retried: (cause) => meter.count('posthorn_store_retries_total', { cause }),
      waited: (seconds) => meter.observe('posthorn_store_connection_wait_seconds', {}, seconds),
      asked: () => meter.count('posthorn_store_round_trips_total', {}),
    },
  }
}

export const tellEveryMs = 2_000

/**
 * A worker thread's tally, sent to the main thread every two seconds and once more at the end. It is sent, empty, when
 * metrics are off too: it shows that the thread's event loop turns.
 */
export function openThreadMeter(
  enabled: boolean,
  clock: Clock,
  name: string,
  tell: (snapshot: Snapshot) => void,
  rest?: () => void,
): { meter: Meter; close(): void } {
  const tally = makeTally()
  const meter = enabled ? tally : silentMeter
  const loop = watchLoop(meter, name, rest)
  const plan = (): (() => void) =>
    clock.after(tellEveryMs, () => {
      loop.read()
      tell(tally.take())
      cancel = plan()
    })
  let cancel = plan()
  return {
    meter,
    close() {
      cancel()
      loop.close()
      tell(tally.take())
    },
  }
}

// It sees every delay that somebody might notice, and wakes an idle thread ten times a second.
const everyMs = 100
// One scrape a minute still sees the longest delay; `read` is called every two seconds.
const readsKept = 30
// proc(5): in units of sysconf(_SC_CLK_TCK), which is 100 wherever Node runs on Linux.
const ticksASecond = 100

/**
 * How late the calling thread's event loop comes to what is due, and how much CPU time its JavaScript takes. `read` is
 * to be called every two seconds or so. Calls `rest` when the thread has worked and has nothing to do now.
 */
export function watchLoop(
  meter: Pick<Meter, 'gauge' | 'count'>,
  thread: string,
  rest: () => void = () => {},
): { read(): void; close(): void } {
  // Not `monitorEventLoopDelay`, whose histogram takes 0.4 MB of each thread.
  let lastMs = performance.now()
  let delayMs = 0
  const ticking = setInterval(() => {
    const nowMs = performance.now()
    delayMs = Math.max(delayMs, nowMs - lastMs - everyMs)
    lastMs = nowMs
  }, everyMs).unref()
  const longest: number[] = []
  let cpuSeconds = cpuOfThread()
  const isOver = makeQuiet()
  return {
    read() {
      longest.push(delayMs / 1_000)
      delayMs = 0
      if (longest.length > readsKept) longest.shift()
      meter.gauge('posthorn_thread_lag_seconds', { thread }, Math.max(...longest))
      if (isOver(cpuOfThread() - cpuSeconds)) rest()
      const cpu = cpuOfThread()
      if (cpu > cpuSeconds)
        meter.count('posthorn_thread_cpu_seconds_total', { thread }, cpu - cpuSeconds)
      cpuSeconds = cpu
    },
    close: () => clearInterval(ticking),
  }
}

// Seconds of CPU time between two readings, which are two seconds apart; nobody waits for a thread that takes less.
const quietSeconds = 0.04
const quietReadings = 15
const workedSeconds = 0.5

/** Takes the CPU time that was used; answers true once after work, when little has been done for half a minute. */
export function makeQuiet(): (seconds: number) => boolean {
  // Starting is work too: it leaves garbage, and space for new objects that an idle thread does not need.
  let worked = workedSeconds
  let readings = 0
  return (seconds) => {
    const isQuiet = seconds < quietSeconds
    if (!isQuiet) worked += seconds
    readings = isQuiet ? readings + 1 : 0
    if (readings < quietReadings || worked < workedSeconds) return false
    worked = 0
    return true
  }
}

/**
 * Seconds of CPU time of this thread alone, as Node tells only that of the whole process; 0 where the system does not
 * tell.
 */
function cpuOfThread(): number {
  let stat: string
  try {
    stat = readFileSync('/proc/thread-self/stat', 'utf8')
  } catch {
    // No Linux, or /proc is hidden: the metric is missing there, and nothing depends on it.
    return 0
  }
  // The name in parentheses may have spaces; utime and stime are the 12th and 13th field behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksASecond
}
