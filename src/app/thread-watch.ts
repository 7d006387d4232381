import type { Clock } from '../clock/index.js'
import type { StartedThreads } from './started-threads.js'

/** Which threads do not do their work. `supervise.ts` starts threads that die again; here they are only told of. */
export interface ThreadWatch {
  /** To be called every `tellEveryMs`: threads that have said nothing since the last time are counted. */
  tick(): void
  /** The threads that have not worked for so long: dead, although started again, or hung. */
  unwell(forMs: number): FailingThread[]
  /** The threads that die again and again, however soon they are back. */
  dyingThreads(): string[]
  /** False when a thread has not worked for minutes. */
  healthy(): boolean
}

/** A thread that does no work now. A new start mends the first state, but not the second. */
export interface FailingThread {
  thread: string
  /** `hung`: it is there, and its event loop does not turn. */
  state: 'down' | 'hung'
  forMs: number
}

// After so long only a new process may help; systemd's watchdog then brings one.
const maxDownMs = 180_000

export function watchThreads(threads: StartedThreads, clock: Clock): ThreadWatch {
  const unwell = (forMs: number) =>
    threads.known().flatMap(({ name: thread, downSince, silentMs }): FailingThread[] => {
      const downMs = downSince === undefined ? 0 : clock.now() - downSince
      if (downMs >= forMs) return [{ thread, state: 'down', forMs: downMs }]
      return silentMs >= forMs ? [{ thread, state: 'hung', forMs: silentMs }] : []
    })
  return {
    unwell,
    tick() {
      for (const thread of threads.known()) thread.tick()
    },
    dyingThreads: () =>
      threads
        .known()
        .filter(({ isDying }) => isDying)
        .map(({ name }) => name),
    healthy: () => unwell(maxDownMs).length === 0,
  }
}
