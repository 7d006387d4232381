import { spawn } from 'node:child_process'
import { OperatorError } from '../errors/index.js'

interface Ran {
  /** Null: a signal ended the program. */
  status: number | null
  stdout: string
  stderr: string
}

const keptCharacters = 100_000

/** Runs a program to its end and returns what it said; OperatorError where it cannot be started. */
export function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ran> {
  // Not run in the caller's folder: the user of the service may be unable to enter it.
  const child = spawn(program, args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] = (said[name] + text).slice(-keptCharacters)
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      reject(new OperatorError(`${program} cannot be started`, { cause }))
    })
    child.once('close', (status) => resolve({ status, ...said }))
  })
}

/** Runs a program that must succeed: returns its stdout, or throws an OperatorError with what it said. */
export async function runWell(program: string, args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await run(program, args)
  if (status === 0) return stdout
  const said = stderr.trim() || stdout.trim() || 'it said nothing'
  throw new OperatorError(
    `${[program, ...args].join(' ')} ended with ${status ?? 'a signal'}: ${said}`,
  )
}

/** Whether dpkg has installed Posthorn on this machine, so that it must learn of another version. */
export async function isPackaged(): Promise<boolean> {
  try {
    const asked = await run('dpkg-query', ['--status', 'posthorn'])
    return asked.status === 0 && /^Status: \S+ \S+ installed$/m.test(asked.stdout)
  } catch {
    return false
  }
}

/** What starts and stops the appliance: systemd, or a program that takes the same three words. */
export interface Service {
  start(): Promise<void>
  /** Resolves when its process has ended. */
  stop(): Promise<void>
  isActive(): Promise<boolean>
}

/** `manager` is called in the form `systemctl stop posthorn`. */
export function makeService(manager: string, name: string): Service {
  return {
    async start() {
      // systemd counts failed starts, and would refuse one more after ten.
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
        // There is no such program: this machine has no systemd.
        return false
      }
    },
  }
}
