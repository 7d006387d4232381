import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { type Clock, systemClock } from '../clock/index.js'
import type { Log } from '../log/index.js'

/** Tells systemd how the service fares (sd_notify(3)); a no-op when systemd did not start us. */
export interface SystemdNotifier {
  /** The listeners are open: units that wait for Posthorn may start. */
  ready(): void
  /** What `systemctl status` shows beside the state. */
  status(text: string): void
  /** The start may take so long from now on; to be called again before that time is over. */
  extendStart(ms: number): void
  /** The end has begun on purpose; from here on nobody mistakes a slow drain for a hang. */
  stopping(): void
  /** Pings at half the unit's WatchdogSec while `isHealthy`; silence makes systemd restart us. */
  startWatchdog(isHealthy: () => boolean): void
  close(): void
}

/**
 * Node has no unix datagram sockets, so `systemd-notify` (present wherever NOTIFY_SOCKET is set)
 * speaks for us, from one shell that is started once and fed by a pipe: measured 2026-11, each
 * fork of a 1.5 GB process would hold up its event loop for 70 ms. The unit needs NotifyAccess=all.
 */
export function openSystemdNotifier(
  env: NodeJS.ProcessEnv,
  log: Log,
  clock: Clock = systemClock,
): SystemdNotifier {
  if (!env.NOTIFY_SOCKET) {
    return {
      ready() {},
      status() {},
      extendStart() {},
      stopping() {},
      startWatchdog() {},
      close() {},
    }
  }
  let messenger: ChildProcess | undefined
  let cancelPing = () => {}
  let isStopping = false

  function tell(line: string): void {
    messenger ??= startMessenger(env, log, (child) => {
      if (messenger === child) messenger = undefined
    })
    messenger.stdin?.write(`${line}\n`)
  }

  return {
    ready: () => tell('READY=1'),
    status: (text) => tell(`STATUS=${text}`),
    extendStart: (ms) => tell(`EXTEND_TIMEOUT_USEC=${ms * 1_000}`),
    stopping() {
      isStopping = true
      tell('STOPPING=1')
    },
    startWatchdog(isHealthy) {
      const intervalMs = watchdogMs(env) / 2
      if (intervalMs === 0) return
      let wasHealthy = true
      const ping = () => {
        cancelPing = clock.after(intervalMs, ping)
        const healthy = isStopping || isHealthy()
        if (healthy) tell('WATCHDOG=1')
        else if (wasHealthy) log.error({}, 'Unhealthy: the systemd watchdog gets no more pings')
        wasHealthy = healthy
      }
      cancelPing()
      ping()
    },
    close() {
      cancelPing()
      messenger?.stdin?.end()
    },
  }
}

const relay = 'while read -r line; do systemd-notify "$line"; done'

/** A shell that stays and calls systemd-notify, since Node cannot write to systemd's datagram socket. */
function startMessenger(
  env: NodeJS.ProcessEnv,
  log: Log,
  gone: (child: ChildProcess) => void,
): ChildProcess {
  const { NOTIFY_SOCKET, PATH } = env
  const child = spawn('/bin/sh', ['-c', relay], {
    // Nothing else of our environment, in which keys may be, goes to another process.
    env: { NOTIFY_SOCKET, PATH },
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  // The pipe ends with us, and the shell with the pipe: neither keeps the process alive.
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref()
  child.once('exit', () => gone(child))
  const fail = (error: Error) => {
    gone(child)
    log.error({ error }, 'systemd is not being notified')
  }
  child.once('error', fail)
  child.stdin?.on('error', fail)
  return child
}

/** sd_watchdog_enabled(3): 0 when there is none, or when it is meant for another process. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv): number {
  if (WATCHDOG_PID !== undefined && Number(WATCHDOG_PID) !== process.pid) return 0
  const ms = Number(WATCHDOG_USEC ?? 0) / 1_000
  return Number.isFinite(ms) && ms > 0 ? ms : 0
}
