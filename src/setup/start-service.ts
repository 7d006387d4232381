import { spawnSync } from 'node:child_process'
import { run, serviceName } from './system.js'

/** Whether the service runs, and if not, why. */
export type StartedService =
  | { state: 'running'; isNew: boolean }
  /** `command`: by which the operator starts it. */
  | { state: 'not started'; why: string; command: string }

/** What speaks for and against starting it. */
interface StartWanted {
  isWanted: boolean
  /** The directories are those that the unit names. */
  isSystem: boolean
  hasSystemd: boolean
  /** The settings are new, so that one that runs has to begin anew. */
  isChanged: boolean
  takenPorts: readonly string[]
  /** The command where there is no unit. */
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
    // A unit that was just installed is not known before.
    run(['systemctl', 'daemon-reload'])
    run(enable)
  }
  return { state: 'running', isNew: true }
}
