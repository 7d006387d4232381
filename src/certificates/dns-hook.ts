import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Clock, pause } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { Resolver } from '../dns/index.js'
import type { WantedName } from './names.js'
import { AcmeProblem } from './problem.js'

/** Publishes and removes the records by which DNS-01 (RFC 8555 §8.4) proves a name. */
export interface DnsHook {
  add(name: string, value: string): Promise<void>
  remove(name: string, value: string): Promise<void>
}

/** The operator's own names, where there is a hook: it can write into the operator's zones, and not into customers'. */
export const isByDns = ({ tls }: Pick<Config, 'tls'>, { domain }: WantedName): boolean =>
  tls.dnsHook !== '' && domain === undefined

const run = promisify(execFile)
// A provider's interface may need a minute; what hangs is ended.
const longestMs = 120_000
const mostBytes = 64 * 1_024
// As long is looked for what the hook says that it has published; then the directory is asked all the same.
const publishedWithinMs = 30_000
const lookEveryMs = 2_000

/** The program of `tls.dns_hook`. Rejects with its words where it fails. */
export function makeDnsHook({
  config,
  clock,
  resolver,
  signal,
}: {
  config: Pick<Config, 'tls'>
  clock: Clock
  resolver: Resolver
  signal: AbortSignal
}): DnsHook {
  const program = config.tls.dnsHook
  const call = async (verb: 'add' | 'remove', name: string, value: string) => {
    try {
      await run(program, [verb, recordOf(name), value], {
        timeout: longestMs,
        killSignal: 'SIGKILL',
        maxBuffer: mostBytes,
        signal,
        // None of our own secrets.
        env: { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: process.env.HOME ?? '/' },
      })
    } catch (cause) {
      const message = `tls.dns_hook (${program} ${verb}) failed: ${wordsOf(cause)}`
      throw new AcmeProblem('dnsHook', message, 400, undefined)
    }
  }
  return {
    async add(name, value) {
      await call('add', name, value)
      const until = clock.now() + publishedWithinMs
      while (clock.now() < until && !signal.aborted) {
        const found = await resolver.txt(recordOf(name))
        if (found.kind === 'records' && found.records.some((one) => one === value)) return
        await pause(clock, lookEveryMs, signal)
      }
    },
    remove: (name, value) => call('remove', name, value),
  }
}

/** RFC 8555 §8.4: where the directory looks. */
const recordOf = (name: string) => `_acme-challenge.${name}`

/** The first line that it wrote to stderr, or how it ended. */
function wordsOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: unknown; message?: unknown }
  const [line = ''] = String(stderr ?? '')
    .trim()
    .split('\n')
  return (line || String(message ?? error)).slice(0, 300)
}
