import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { type Clock, pause } from '../clock/index.js'
import { messageOf, OperatorError } from '../errors/index.js'
import { passphraseVariable } from './passphrase.js'

export interface HookOptions {
  clock: Clock
  timeoutMs: number
  signal: AbortSignal
  env: NodeJS.ProcessEnv
}

const placeholder = '{file}'
const keptCharacters = 1_000
const lastWordsMs = 1_000

/**
 * Runs the operator's command for a backup, such as `["rclone", "copy", "{file}", "far:backups"]`. Each argument goes
 * to the program as it is: no shell sees it. Without `{file}` the path is the last one. Throws an OperatorError with
 * the end of its stderr (or else of its stdout) where it fails, or takes longer than `timeoutMs`.
 */
export async function runHook(
  command: readonly string[],
  file: string,
  { clock, timeoutMs, signal, env }: HookOptions,
): Promise<void> {
  const [program = '', ...given] = command.map((word) => word.replaceAll(placeholder, file))
  const args = command.some((word) => word.includes(placeholder)) ? given : [...given, file]
  // It gets a process group of its own, so that what it has started ends with it.
  const child = spawn(program, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, [passphraseVariable]: undefined },
  })
  const errors = tailOf(child.stderr)
  const output = tailOf(child.stdout)
  const ended = new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(`cannot be started: ${messageOf(error)}`))
    child.once('exit', (code, killedBy) => {
      const problem = code === null ? `was ended by ${killedBy}` : `ended with status ${code}`
      const end = () => resolve(code === 0 ? undefined : problem)
      // A process that it has left behind in a session of its own may hold its output for ever.
      const cancel = clock.after(lastWordsMs, end)
      child.once('close', () => {
        cancel()
        end()
      })
    })
  })
  const over = new AbortController()
  const outOfTime = pause(clock, timeoutMs, AbortSignal.any([signal, over.signal])).then(() =>
    signal.aborted ? 'was stopped with the job' : `took longer than ${timeoutMs / 1_000} s`,
  )
  const problem = await Promise.race([ended, outOfTime])
  over.abort()
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    process.kill(-child.pid, 'SIGKILL')
    await ended
  }
  child.stderr.destroy()
  child.stdout.destroy()
  if (problem === undefined) return
  // Scripts often say what went wrong on stdout.
  const said = errors().trim() || output().trim()
  throw new OperatorError(
    `The backup ${file} was made, but the command of backup.hook (${program}) ${problem}${said === '' ? '' : `: ${said}`}`,
  )
}

function tailOf(stream: Readable): () => string {
  let tail = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-keptCharacters)
  })
  return () => tail
}
