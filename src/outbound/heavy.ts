/**
 * Room for large messages under way: a receiver may make us hold one for the ten minutes that it has for
 * the final dot, and hundreds of those are gigabytes. Small ones pass: all together they are not much.
 */
export interface HeavyRoom {
  /** False: there is no room now. Whoever gets in gives it back with `leave`. */
  enter(bytes: number): boolean
  leave(bytes: number): void
  /** Resolves when it is worth trying again, for one after the other. */
  untilFree(): Promise<void>
}

export const lightBytes = 256 * 1024

export function makeHeavyRoom(mostBytes: number): HeavyRoom {
  const waiting: (() => void)[] = []
  let used = 0
  const wakeOne = () => waiting.shift()?.()
  return {
    enter(bytes) {
      if (bytes <= lightBytes) return true
      // One that is larger than all of it has to leave too.
      if (used > 0 && used + bytes > mostBytes) return false
      used += bytes
      if (used < mostBytes) wakeOne()
      return true
    },
    leave(bytes) {
      if (bytes <= lightBytes) return
      used -= bytes
      wakeOne()
    },
    untilFree: () => new Promise((resolve) => waiting.push(resolve)),
  }
}
