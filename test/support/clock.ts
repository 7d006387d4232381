import type { Clock } from '../../src/clock/index.js'

/** A clock that stands still until a test moves it; timers that fall due run in order. */
export class FakeClock implements Clock {
  #now: number
  #timers = new Set<{ at: number; wake: () => void }>()

  constructor(start = Date.parse('2026-11-21T12:00:00.000Z')) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  after(delayMs: number, wake: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, delayMs), wake }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Whether a timer waits for its time. */
  get isAwaited(): boolean {
    return this.#timers.size > 0
  }

  /**
   * Sets the clock back, as a time server or an operator does; timers go by the time that passes, not by the clock.
   */
  setBack(ms: number): void {
    this.#now -= ms
    for (const timer of this.#timers) timer.at -= ms
  }

  /** As after a machine slept: the clock went on, and no timer did. */
  jump(ms: number): void {
    this.setBack(-ms)
  }

  /** Moves time forward, running every timer that falls due on the way, then lets I/O turn once. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    for (;;) {
      const due = this.#first()
      if (due === undefined || due.at > end) break
      this.#now = Math.max(this.#now, due.at)
      this.#timers.delete(due)
      due.wake()
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#now = end
    await new Promise((resolve) => setImmediate(resolve))
  }

  /** The first due timer; of several due at the same time, the one that was set first. */
  #first() {
    let first: { at: number; wake: () => void } | undefined
    for (const timer of this.#timers) if (first === undefined || timer.at < first.at) first = timer
    return first
  }
}
