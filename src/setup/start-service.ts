import { spawnSync } from 'node:child_process'
import { run, serviceName } from './system.js'

/** Whether the service runs, and if not, why. */
export type StartedService =
  | { state: 'running'; isNew: boolean }
  /** `command`: the command that starts it. */
  | { state: 'not started'; why: string; command: string }

/** What decides whether the service can be started. */
interface StartWanted {
  isWanted: boolean
  /** True when the directories are those that the unit names. */
  isSystem: boolean
  hasSystemd: boolean
  /** True when the settings are new, so that a running service must be restarted. */
  isChanged: boolean
  takenPorts: readonly string[]
  /** The command to start it where there is no unit. */
  byHand: string
}

/** Starts the service, now and with the machine, and waits until it is ready; throws what systemctl says. */
export function startService(wanted: StartWanted): StartedService {
  const { isSystem, hasSystemd, takenPorts, isChanged } = wanted
  const enable = ['systemctl', 'enable', '--now', serviceName]
  const command = isSystem && hasSystemd ? enable.join(' ') : wanted.byHand
  const not = (why: string): StartedService => ({ state: 'not started', why, command })
  if (!wanted.isWanted) return not('--no-start')
  if (!isSystem) return not('the directories are not those of the service')
  if (!hasSystemd) return not('systemd does not run here')
  if (takenPorts.length > 0) return not(`another program has port ${takenPorts.join(' and ')}`)
  const isActive = spawnSync('systemctl', ['is-active', '--quiet', serviceName]).status === 0
  if (isActive && !isChanged) return { state: 'running', isNew: false }
  if (isActive) run(['systemctl', 'restart', serviceName])
  else {
    // Without this, systemd does not know a unit that was just installed.
    run(['systemctl', 'daemon-reload'])
    run(enable)
  }
  return { state: 'running', isNew: true }
}
