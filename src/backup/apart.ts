import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { OperatorError } from '../errors/index.js'

/** What is to be done by a process of its own, which has no other connection to the database, and gives way to mail. */
export type Order =
  | {
      kind: 'make'
      dataDir: string
      url: string | undefined
      configFile?: string | undefined
      dir: string
      withKey: boolean
      compress: boolean
      passphraseFile: string
    }
  | { kind: 'verify'; file: string; scratch: string; keyFile: string; passphraseFile: string }

export type BackupResult =
  | { file: string; sizeBytes: number; tookMs: number; madeAt: number; rows: number }
  | { error: string }

const entry = fileURLToPath(new URL('../jobs/backup-process.js', import.meta.url))
const graceMs = 8_000

/** Carries out an order; throws an OperatorError with what went wrong. Aborting ends the process. */
export async function inProcess(order: Order, signal: AbortSignal) {
  const child = fork(entry, { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-1_000)
  })
  let done: BackupResult | undefined
  child.once('message', (message) => {
    done = message as BackupResult
  })
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    // Where there is no room for one more process, nothing closes either.
    child.on('error', ({ message }) => {
      said += message
      if (child.pid === undefined) resolve()
    })
  })
  let kill: NodeJS.Timeout | undefined
  const stop = () => {
    child.kill('SIGTERM')
    kill = setTimeout(() => child.kill('SIGKILL'), graceMs)
  }
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  child.send(order)
  await ended
  clearTimeout(kill)
  signal.removeEventListener('abort', stop)
  if (done === undefined) throw new OperatorError(`The process of the backup died. ${said}`.trim())
  if ('error' in done) throw new OperatorError(done.error)
  return done
}
