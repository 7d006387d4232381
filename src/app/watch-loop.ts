import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Meter } from '../metrics/index.js'

// It sees every delay that somebody might notice, and an idle thread wakes ten times a second for it.
const everyMs = 100
// One scrape a minute still sees the longest delay; `read` is called every two seconds.
const readsKept = 30
// proc(5): in units of sysconf(_SC_CLK_TCK), which is 100 wherever Node runs on Linux.
const ticksASecond = 100

/**
 * How late the calling thread's event loop comes to what is due, and what CPU time its JavaScript takes.
 * `read` is to be called every two seconds or so.
 */
export function watchLoop(
  meter: Pick<Meter, 'gauge' | 'count'>,
  thread: string,
): { read(): void; close(): void } {
  const delays = monitorEventLoopDelay({ resolution: everyMs })
  delays.enable()
  const longest: number[] = []
  let cpuSeconds = cpuOfThread()
  return {
    read() {
      // What it measures is the time from one tick to the next.
      longest.push(Math.max(0, delays.max / 1e9 - everyMs / 1_000))
      delays.reset()
      if (longest.length > readsKept) longest.shift()
      meter.gauge('posthorn_thread_lag_seconds', { thread }, Math.max(...longest))
      const cpu = cpuOfThread()
      if (cpu > cpuSeconds)
        meter.count('posthorn_thread_cpu_seconds_total', { thread }, cpu - cpuSeconds)
      cpuSeconds = cpu
    },
    close: () => void delays.disable(),
  }
}

/** Of this thread alone; 0 where the system does not tell. Node tells it of whole processes only. */
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
