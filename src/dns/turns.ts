export interface QueryTurns {
  /** Resolves when the caller has its turn; with false at once when too many wait. */
  take(): Promise<boolean>
  giveBack(): void
}

/** At most `maxRunning` at once, first come, first served. */
export function makeTurns(maxRunning: number, maxWaiting: number): QueryTurns {
  let running = 0
  const waiting: (() => void)[] = []
  return {
    async take() {
      if (running < maxRunning) running++
      else if (waiting.length >= maxWaiting) return false
      else await new Promise<void>((resolve) => waiting.push(resolve))
      return true
    },
    giveBack() {
      // The place goes to the next in line, or becomes free.
      const next = waiting.shift()
      if (next) next()
      else running--
    },
  }
}
