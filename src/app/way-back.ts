import type { Log } from '../log/index.js'

/**
 * The way back of a start. Each step that opens something adds how that is closed; `go` closes all of it, the last
 * opened first. Both a stop and a start that fails go this way, so neither leaves a lock, a thread or a port.
 */
export interface WayBack {
  add(close: () => Promise<void> | void): void
  go(): Promise<void>
}

export function makeWayBack(): WayBack {
  const opened: Parameters<WayBack['add']>[0][] = []
  return {
    add: (close) => void opened.push(close),
    async go() {
      for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close()
    },
  }
}

/** A stop: announced first, then the way back. It runs once, however often `close` is called. */
export function closing({
  log,
  notifier,
  announce,
  closeAll,
}: {
  log: Log
  notifier: { stopping(): void }
  /** Says that the end comes, and waits until all have heard it who are to send no more. */
  announce: () => Promise<void>
  closeAll: () => Promise<void>
}): { close(): Promise<void>; closed: Promise<void> } {
  let announceClosed = () => {}
  const closed = new Promise<void>((resolve) => {
    announceClosed = resolve
  })
  const stop = async () => {
    log.info({}, 'Stopping')
    notifier.stopping()
    await announce()
    await closeAll()
    log.info({}, 'Stopped')
    announceClosed()
  }
  let stopped: Promise<void> | undefined
  return {
    closed,
    close() {
      stopped ??= stop()
      return stopped
    },
  }
}
