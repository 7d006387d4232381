import type { CpuClock } from './cpu.js'

// At worst a job is first seen after one tick, and over its limit one tick late.
const tickMs = 10
const maxCpuMs = 70

export interface Watch {
  /** Looks until `rest`. */
  look(): void
  rest(): void
}

/**
 * Looks from the main thread at the job that the render thread is working on, because there is
 * code (parsing, regular expressions) in which that thread cannot look at itself. Calls `exceeded`
 * when one job has used up its CPU time.
 */
export function makeWatch(
  current: Int32Array,
  cpu: CpuClock,
  exceeded: (serial: number) => void,
): Watch {
  let timer: NodeJS.Timeout | undefined
  let seen = 0
  let seenCpuMs = 0
  const tick = () => {
    const serial = Atomics.load(current, 0)
    if (serial === 0 || serial !== seen) {
      seen = serial
      seenCpuMs = serial === 0 ? 0 : cpu.ms()
    } else if (cpu.ms() - seenCpuMs >= maxCpuMs) exceeded(serial)
  }
  return {
    look() {
      // Not the appliance's clock: CPU is used up in real time, however a test moves the other.
      timer ??= setInterval(tick, tickMs)
    },
    rest() {
      clearInterval(timer)
      timer = undefined
      seen = 0
    },
  }
}
