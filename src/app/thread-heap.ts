import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Store } from '../store/index.js'

/**
 * Each kind of thread has a heap that fits its work (`thread-roster.ts`). The command line has the main thread's
 * limits, which V8 would put before those of the threads that start from now on: they are taken back here.
 */
export function letThreadsHaveHeaps(): void {
  for (const flag of ['--max-semi-space-size', '--max-old-space-size']) {
    setFlagsFromString(`${flag}=0`)
  }
}

let collect: (() => void) | undefined

/** For a thread that has nothing to do: frees what it keeps for its next work, and collects its garbage (twice 30 ms). */
export function giveBackMemory(store: Pick<Store, 'forgetPages'>): void {
  store.forgetPages()
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
    // V8 takes no code from Node's cache in a thread that starts with other flags than the process did.
    setFlagsFromString('--no-expose-gc')
  }
  // What the first one has emptied, the second gives back.
  collect()
  collect()
}
