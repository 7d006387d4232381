import { Resolver as NodeResolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Clock } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import { reverseLabels } from './address.js'
import { canonicalName, type DnsAnswer, type Resolver } from './resolver.js'
import { makeTurns } from './turns.js'

export interface SystemResolverOptions {
  clock: Clock
  /** `192.0.2.53`, `192.0.2.53:5353` or `[2001:db8::53]:53`; by default those of /etc/resolv.conf. */
  servers?: readonly string[]
  /** What one lookup may take, retries and all; default 5,000. */
  timeoutMs?: number
  /** Lookups on the wire at once; more wait for their turn. Default 128. */
  maxConcurrent?: number
  /** Lookups waiting; more fail at once. Default 10,000. */
  maxWaiting?: number
}

// No honest domain comes near; an answer of 64 KiB could hold thousands of records, each a connection to try.
const maxRecords = 100

/** Asks the machine's (or the given) recursive name servers. Never rejects. */
export function systemResolver(options: SystemResolverOptions): Resolver {
  const { clock, timeoutMs = 5_000, maxConcurrent = 128, maxWaiting = 10_000 } = options
  // Two tries must fit into the budget, or a single lost packet would defer mail.
  const dns = new NodeResolver({ timeout: Math.ceil(timeoutMs / 3), tries: 2 })
  if (options.servers && options.servers.length > 0) dns.setServers(options.servers)

  const turns = makeTurns(maxConcurrent, maxWaiting)

  /** Answers within the budget, but keeps its place until c-ares has really let go of the query. */
  async function lookUp<Raw, T>(
    ask: () => Promise<Raw[]>,
    read: (raw: Raw) => T,
    ttlMs?: (raw: Raw[]) => number,
  ): Promise<DnsAnswer<T>> {
    if (!(await turns.take())) return { kind: 'failed', cause: 'too many DNS lookups' }
    const answer = ask()
      .then((raw): DnsAnswer<T> => {
        if (raw.length === 0) return { kind: 'none' }
        const records = raw.slice(0, maxRecords).map(read)
        return { kind: 'records', records, ...(ttlMs && { ttlMs: ttlMs(raw) }) }
      }, answerOfError)
      .finally(turns.giveBack)
    return withinBudget(clock, timeoutMs, answer)
  }

  const shortestTtlMs = (raw: { ttl: number }[]) => Math.min(...raw.map((r) => r.ttl)) * 1_000
  return {
    mx: (name) =>
      lookUp(
        () => dns.resolveMx(name),
        ({ exchange, priority }) => ({
          exchange: canonicalName(exchange),
          preference: priority,
        }),
      ),
    a: (name) =>
      lookUp(
        () => dns.resolve4(name, { ttl: true }),
        (r) => r.address,
        shortestTtlMs,
      ),
    aaaa: (name) =>
      lookUp(
        () => dns.resolve6(name, { ttl: true }),
        (r) => r.address,
        shortestTtlMs,
      ),
    txt: (name) =>
      lookUp(
        () => dns.resolveTxt(name),
        (strings) => strings.join(''),
      ),
    cname: (name) => lookUp(() => dns.resolveCname(name), canonicalName),
    async ptr(address) {
      if (isIP(address) === 0) return { kind: 'nxdomain' }
      // Not dns.reverse(): that reads /etc/hosts first.
      return lookUp(() => dns.resolvePtr(reverseName(address)), canonicalName)
    },
  }
}

/** RFC 1035 §3.5 and RFC 3596 §2.5: `1.2.0.192.in-addr.arpa`, `…8.b.d.0.1.0.0.2.ip6.arpa`. */
function reverseName(address: string): string {
  const labels = reverseLabels(address)
  return `${labels}.${labels.length > 15 ? 'ip6' : 'in-addr'}.arpa`
}

function answerOfError(error: unknown): DnsAnswer<never> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : messageOf(error)
  // EBADNAME, ERR_INVALID_*: text that cannot be a domain name has no records, today or tomorrow.
  if (code === 'ENOTFOUND' || code === 'EBADNAME' || code.startsWith('ERR_INVALID')) {
    return { kind: 'nxdomain' }
  }
  if (code === 'ENODATA') return { kind: 'none' }
  return { kind: 'failed', cause: causes[code] ?? `DNS: ${code}` }
}

const causes: Record<string, string> = {
  ESERVFAIL: 'DNS: SERVFAIL',
  EREFUSED: 'DNS: REFUSED',
  ETIMEOUT: 'DNS: no answer in time',
  ECONNREFUSED: 'DNS: no name server reachable',
  EBADRESP: 'DNS: malformed answer',
}

function withinBudget<T>(clock: Clock, timeoutMs: number, answer: Promise<DnsAnswer<T>>) {
  return new Promise<DnsAnswer<T>>((resolve) => {
    const cancel = clock.after(timeoutMs, () =>
      resolve({ kind: 'failed', cause: 'DNS: no answer in time' }),
    )
    void answer.then((value) => {
      cancel()
      resolve(value)
    })
  })
}
