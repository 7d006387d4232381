import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { ResourceLimits } from 'node:worker_threads'
import type { Store } from '../store/index.js'

export type Kind =
  | 'checkpoint'
  | 'sandbox'
  | 'inbound'
  | 'outbound'
  | 'courier'
  | 'submission'
  | 'https'

/**
 * What V8 may take for the heap of a thread. The first number is three times the space of new objects, of which two
 * are in use. By the second it decides how much garbage may pile up among the old ones: with 2 GB or more three times
 * what lives (an outbound thread had 130 MB for 30 that live, Nov 2026), with 1 GB six tenths of it. It is far more
 * than any of them needs: one that came to it would die.
 */
const heapOf = (maxYoungGenerationSizeMb: number, maxOldGenerationSizeMb: number) => ({
  ...{ maxYoungGenerationSizeMb, maxOldGenerationSizeMb },
})

export const heaps = {
  checkpoint: heapOf(6, 512),
  courier: heapOf(12, 512),
  https: heapOf(12, 512),
  inbound: heapOf(24, 1_024),
  // With half of it a fifth of the thread's time at full load went into collecting garbage (Nov 2026).
  outbound: heapOf(48, 1_024),
  sandbox: heapOf(12, 1_024),
  submission: heapOf(24, 1_024),
} satisfies Record<Kind, ResourceLimits>

/** The command line has the main thread's limits, which V8 would put before those of the threads that start from now on. */
export function letThreadsHaveHeaps(): void {
  for (const flag of ['--max-semi-space-size', '--max-old-space-size']) {
    setFlagsFromString(`${flag}=0`)
  }
}

let collect: (() => void) | undefined

/** For a thread that has nothing to do: frees what it keeps for its next work, and collects its garbage (50 ms). */
export function giveBackMemory(store: Pick<Store, 'forgetPages'>): void {
  store.forgetPages()
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}
