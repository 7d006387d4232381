import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Store } from '../store/index.js'

let areSet = false

/**
 * V8's flags are the process's, and a thread that read them while another one set them died. So they are set only here:
 * once, by the main thread, before it starts the first of the others. Each kind of thread has a heap that fits its work
 * (`thread-roster.ts`). The command line has the main thread's limits, which V8 would put before those of the threads
 * that start from now on, so they are taken back here. And each context that is made from now on has a `gc`.
 */
export function setFlagsOfThreads(): void {
  if (areSet) return
  areSet = true
  for (const flag of ['--max-semi-space-size', '--max-old-space-size']) {
    setFlagsFromString(`${flag}=0`)
  }
  // It costs a thread 10 to 20 ms of its start (Nov 2026), as V8 takes no code from Node's cache under flags that
  // differ from those Node was built with. It saves a thread 0.6 MB.
  setFlagsFromString('--expose-gc')
}

let collect: (() => void) | undefined

/**
 * For a thread that has nothing to do: frees what it keeps for its next work, and collects its garbage (twice 30 ms).
 */
export function giveBackMemory(store: Pick<Store, 'forgetPages'>): void {
  store.forgetPages()
  collect ??= runInNewContext('gc') as () => void
  // The second collection gives back what the first has emptied.
  collect()
  collect()
}
