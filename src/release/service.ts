import { run, runWell } from './run.js'

/** What starts and stops the appliance: systemd, or a program that takes the same three words. */
export interface Service {
  start(): Promise<void>
  /** Resolves when its process has ended. */
  stop(): Promise<void>
  isActive(): Promise<boolean>
}

/** `manager` is called as `systemctl stop posthorn`. */
export function makeService(manager: string, name: string): Service {
  return {
    async start() {
      // systemd remembers failed starts, and would refuse one more after ten of them.
      if (manager.endsWith('systemctl')) await run(manager, ['reset-failed', name])
      await runWell(manager, ['start', name])
    },
    async stop() {
      await runWell(manager, ['stop', name])
    },
    async isActive() {
      try {
        return (await run(manager, ['is-active', '--quiet', name])).status === 0
      } catch {
        // No such program: a machine without systemd.
        return false
      }
    },
  }
}
