import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Gives way to everything else on the processors from now on. On Linux a niceness belongs to a thread, so each thread
 * of this process gets it, above all those of libuv's pool, which compress and hash.
 */
export function slowDown(): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, 19)
    } catch {
      // The thread has ended meanwhile.
    }
  }
}

function threads(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    // No Linux: the niceness is that of the whole process.
    return [0]
  }
}
