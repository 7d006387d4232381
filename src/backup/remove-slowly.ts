import { constants } from 'node:fs'
import { open, rm, unlink } from 'node:fs/promises'
import { pause, systemClock } from '../clock/index.js'

// Syncs of mail wait 13 ms for a step of this size.
const stepBytes = 16 * 1_048_576

/**
 * Removes a file that nobody but us reads, if it is there: the name at once, its space step by step, with rests. A file
 * system that tells the disk at once what it no longer needs (ext4 with `discard`) held up all syncs for 0.8 s when 1.9
 * GB were removed as one (Nov 2026). When `signal` aborts, the rest is removed as one.
 */
export async function removeSlowly(file: string, signal?: AbortSignal): Promise<void> {
  const { O_WRONLY, O_NOFOLLOW } = constants
  const opened = await open(file, O_WRONLY | O_NOFOLLOW).catch(() => undefined)
  // It is a symlink, another's file, or nothing at all: in any case its name is to go.
  if (opened === undefined) return await rm(file, { force: true })
  try {
    await unlink(file)
    const { nlink, size } = await opened.stat()
    // Somebody has linked the file to keep it: what they have stays whole.
    if (nlink > 0) return
    for (let left = size - stepBytes; left > 0 && !signal?.aborted; left -= stepBytes) {
      const began = performance.now()
      await opened.truncate(left)
      await opened.sync()
      await pause(systemClock, performance.now() - began, signal)
    }
  } finally {
    await opened.close()
  }
}
