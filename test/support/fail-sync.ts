import fs, { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

/*
 * Preloaded into an appliance (`node --import`): once the file POSTHORN_FAIL_SYNC is there, the syncs of the main
 * thread (POSTHORN_FAIL_THREAD=main) or of the others fail, once each, with the kernel's error for pages that a disk
 * did not take. The sync after that one succeeds.
 */
const { POSTHORN_FAIL_SYNC: trigger = '', POSTHORN_FAIL_THREAD: thread = 'main' } = process.env

if (isMainThread === (thread === 'main')) {
  const sync = fs.fdatasync
  let failed = false
  const failing = (fd: number, done: (error: NodeJS.ErrnoException | null) => void) => {
    if (failed || !existsSync(trigger)) return sync(fd, done)
    failed = true
    const error = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
    setImmediate(() => done(error))
  }
  fs.fdatasync = failing as typeof fs.fdatasync
  syncBuiltinESMExports()
}
