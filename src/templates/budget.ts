import type { CpuClock } from '../clock/index.js'

/** What one job may use up; throws as soon as it would use more. */
export interface Budget {
  /** A new job begins. */
  renew(): void
  /** Between jobs nothing is counted. */
  rest(): void
  /** Called at every tag; `now` is performance.now(). */
  checkTime(now: number): void
  /** Takes what is about to be allocated: characters of strings, elements of arrays. */
  take(amount: number): void
  /** The limit that the present job has exceeded, if any: it explains whatever the job throws. */
  exceeded(): string | undefined
}

// With what the main thread's watch adds (render-thread.ts), a job ends within 100 ms of CPU.
const maxCpuMs = 60
// HTML of 2 MiB whose variables are escaped takes about twice its size.
const maxMemory = 5_000_000

/**
 * A budget of CPU time and memory for one rendering at a time. Once it is exceeded every check throws, so that no
 * template can catch it.
 */
export function makeBudget(cpu: CpuClock): Budget {
  let startedMs = 0
  let lookAt = 0
  let left = Number.POSITIVE_INFINITY
  let reason: string | undefined
  const exceed = (why: string): never => {
    reason = why
    throw new Error(why)
  }
  return {
    renew() {
      startedMs = cpu.ms()
      lookAt = performance.now() + maxCpuMs
      left = maxMemory
      reason = undefined
    },
    rest() {
      left = Number.POSITIVE_INFINITY
    },
    checkTime(now) {
      if (reason !== undefined) exceed(reason)
      // CPU time never runs faster than the clock on the wall, which is cheaper to read.
      if (now < lookAt) return
      const leftMs = maxCpuMs - (cpu.ms() - startedMs)
      if (leftMs <= 0) exceed('it takes too long')
      lookAt = now + Math.max(1, leftMs)
    },
    take(amount) {
      // NaN (a range up to a word) must not spoil the count.
      if (amount > 0) left -= amount
      if (left < 0) exceed('it uses too much memory')
    },
    exceeded: () => reason,
  }
}
