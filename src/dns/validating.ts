import { isIP } from 'node:net'
import type { Answer as Row } from 'dns-packet'
import type { Clock } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import { type NameServer, queryServer, repeat } from './query.js'
import { canonicalName, type ValidatedAnswer, type ValidatedResolver } from './resolver.js'
import { makeTurns } from './turns.js'

export interface ValidatingResolverOptions {
  clock: Clock
  /** `127.0.0.1:53`, `[::1]:53`; on this machine, as nothing protects its answers on the way. */
  server: string
  /** What one lookup may take, repetitions and TCP included; default 5,000. */
  timeoutMs?: number
  maxConcurrent?: number
  maxWaiting?: number
}

// The most records of an answer, as for unvalidated answers (`system.ts`).
const maxRecords = 100

/** Asks a resolver that checks DNSSEC (Unbound, BIND, Knot) and believes its AD bit. Never rejects. */
export function validatingResolver(options: ValidatingResolverOptions): ValidatedResolver {
  const { clock, timeoutMs = 5_000, maxConcurrent = 128, maxWaiting = 10_000 } = options
  const server = parseServer(options.server)
  const turns = makeTurns(maxConcurrent, maxWaiting)

  async function lookUp<K extends Row['type'], T>(
    name: string,
    type: K,
    read: (row: Extract<Row, { type: K }>) => T,
  ): Promise<ValidatedAnswer<T>> {
    if (!(await turns.take())) return failed('too many DNS lookups')
    const stop = new AbortController()
    const cancel = clock.after(timeoutMs, () => stop.abort())
    try {
      const resend = (send: () => void) => repeat(clock, timeoutMs / 3, send)
      const { rcode, packet } = await queryServer(server, { name, type }, stop.signal, resend)
      if (rcode !== 0 && rcode !== 3) return failed(`DNS: ${rcodes[rcode] ?? `code ${rcode}`}`)
      const secure = packet.flag_ad
      const rows = (packet.answers ?? [])
        .filter((row): row is Extract<Row, { type: K }> => row.type === type)
        .slice(0, maxRecords)
      const [first] = rows
      if (first === undefined) return { kind: rcode === 3 ? 'nxdomain' : 'none', secure }
      const ttls = rows.map((row) => ('ttl' in row ? (row.ttl ?? 0) : 0))
      const ttlMs = Math.min(...ttls) * 1_000
      const records = rows.map(read)
      return { kind: 'records', records, ttlMs, secure, name: canonicalName(first.name) }
    } catch (error) {
      return failed(`DNS: ${messageOf(error)}`)
    } finally {
      cancel()
      turns.giveBack()
    }
  }

  return {
    mx: (name) =>
      lookUp(name, 'MX', ({ data }) => ({
        // dns-packet writes the root as a dot, which is a null MX's exchange.
        exchange: canonicalName(data.exchange),
        preference: data.preference ?? 0,
      })),
    a: (name) => lookUp(name, 'A', ({ data }) => readAddress(data)),
    tlsa: (name) =>
      lookUp(name, 'TLSA', ({ data }) => ({
        usage: data.usage,
        selector: data.selector,
        matching: data.matchingType,
        data: Buffer.from(data.certificate),
      })),
  }
}

/** An IPv4 address. Where a packet ends inside one, dns-packet makes 'undefined.undefined…'. */
function readAddress(data: string): string {
  if (isIP(data) !== 4) throw new Error('the answer is malformed')
  return data
}

const rcodes: Record<number, string> = { 1: 'FORMERR', 2: 'SERVFAIL', 4: 'NOTIMP', 5: 'REFUSED' }

const failed = (cause: string) => ({ kind: 'failed', cause, secure: false }) as const

function parseServer(text: string): NameServer {
  if (isIP(text) !== 0) return { host: text, port: 53 }
  const match = /^(?:\[(.+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(text)
  const host = match?.[1] ?? match?.[2] ?? ''
  if (isIP(host) === 0) throw new Error(`Not a name server: ${text}`)
  return { host, port: Number(match?.[3] ?? 53) }
}
