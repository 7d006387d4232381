import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Gives way to everything else on the processors from now on. On Linux a niceness is a thread's: each of
 * this process gets it, those of libuv's pool, which compress and hash, above all.
 */
export function slowDown(): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, 19)
    } catch {
      // It has ended meanwhile.
    }
  }
}

function threads(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    // No Linux: of the process as a whole.
    return [0]
  }
}
