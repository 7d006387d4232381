import { writeSync } from 'node:fs'
import { BroadcastChannel } from 'node:worker_threads'
import { exitStatus } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { OnFault, StoreFault } from '../store/index.js'

/*
 * The end of the process where its database can no longer be trusted (`StoreFault`), whichever thread finds that.
 * Nobody is told that a write was kept, nothing is sent on the strength of it, and the next start works with what is on
 * the disk.
 */

interface Notice {
  fault: StoreFault
  thread: string
}

const channelName = 'posthorn store fault'
// The main thread writes the log and ends the process, within milliseconds unless it hangs itself.
const mainWithinMs = 5_000

/** Ends the process for the main thread, and for the other threads when they tell of a fault. */
export function openEnd(log: Log, dataDir: string): { now: OnFault; close(): void } {
  const end = ({ fault, thread }: Notice): never => {
    const { what, todo, status } = words(fault, dataDir)
    log.error({ cause: fault.message, thread }, `${what}. ${todo}`)
    tell(`error: ${what}: ${fault.message}. ${todo}\n`)
    process.exit(status)
  }
  const channel = new BroadcastChannel(channelName)
  channel.onmessage = (message) => end((message as { data: Notice }).data)
  channel.unref()
  return {
    now: (fault) => end({ fault, thread: 'main' }),
    close: () => channel.close(),
  }
}

/** For a worker thread, which cannot end the process with a status: the main thread does. Never returns. */
export function endFromThread(thread: string): OnFault {
  return (fault) => {
    new BroadcastChannel(channelName).postMessage({ fault, thread } satisfies Notice)
    // Code that ran on from here would answer for data, or act on data, that is not there.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, mainWithinMs)
    tell(`error: The database failed in the thread ${thread}: ${fault.message}\n`)
    process.kill(process.pid, 'SIGKILL')
  }
}

/**
 * What happened and what to do, with the exit status by which systemd decides whether a new start
 * makes sense.
 */
function words({ kind }: StoreFault, dataDir: string) {
  if (kind === 'unsynced') {
    return {
      what: `The disk did not take what was written to the database in ${dataDir}, so Posthorn ends`,
      todo: 'Nothing that was accepted is lost. It starts again by itself under systemd; look at the disk and the kernel log (dmesg) before you trust it',
      status: exitStatus.disk,
    }
  }
  return {
    what: `The database in ${dataDir} is damaged, so Posthorn ends`,
    todo: 'Check the disk, restore posthorn.db and appliance.key from one backup, then start Posthorn again',
    status: exitStatus.damaged,
  }
}

/** Synchronously: the process ends right after it, and a pipe would lose what is buffered. */
function tell(text: string): void {
  try {
    writeSync(2, text)
  } catch {
    // Nobody reads stderr any more; the exit status tells the same.
  }
}
