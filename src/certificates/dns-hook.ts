import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { DnsRecordsDeps, PublishRecord } from './dns-record.js'
import { AcmeProblem } from './problem.js'

const run = promisify(execFile)
// A provider's interface may need a minute; a program that hangs is ended.
const longestMs = 120_000
const mostBytes = 64 * 1_024

/** The program of `tls.dns_hook`. Rejects with the program's words where it fails. */
export function programOf({ config, signal }: DnsRecordsDeps): PublishRecord {
  const program = config.tls.dnsHook
  return async (verb, record, value) => {
    try {
      await run(program, [verb, record, value], {
        timeout: longestMs,
        killSignal: 'SIGKILL',
        maxBuffer: mostBytes,
        signal,
        // The program gets none of our own secrets.
        env: { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: process.env.HOME ?? '/' },
      })
    } catch (cause) {
      const message = `tls.dns_hook (${program} ${verb}) failed: ${wordsOf(cause)}`
      throw new AcmeProblem('dnsHook', message, 400, undefined)
    }
  }
}

/** The first line that the program wrote to stderr, or how it ended. */
function wordsOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: unknown; message?: unknown }
  const [line = ''] = String(stderr ?? '')
    .trim()
    .split('\n')
  return (line || String(message ?? error)).slice(0, 300)
}
