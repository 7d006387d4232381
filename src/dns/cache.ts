import { keepNewest } from '../bounded/index.js'
import { type Clock, hourMs, isRecent } from '../clock/index.js'
import { canonicalName, type DnsAnswer, type Resolver } from './resolver.js'

/** All have defaults; times in milliseconds. */
export interface CacheLimits {
  /** How long records live when their TTL is unknown (MX, TXT, CNAME, PTR): 5 min. */
  positiveMs?: number
  /** Known TTLs are brought into this range: 60 s to 1 h. */
  minMs?: number
  maxMs?: number
  /** `none` and `nxdomain`: 5 min. */
  negativeMs?: number
  /** `failed`: 2 s, enough that a thousand mails to one broken domain ask once. */
  failedMs?: number
  /** The least recently used entries go first: 10,000. */
  maxEntries?: number
}

/** Remembers answers; questions asked while the same one is under way share its answer. */
export function cachingResolver(inner: Resolver, clock: Clock, limits: CacheLimits = {}): Resolver {
  const { positiveMs = 300_000, minMs = 60_000, maxMs = hourMs } = limits
  const { negativeMs = 300_000, failedMs = 2_000, maxEntries = 10_000 } = limits

  const { validated } = inner

  // A Map iterates in order of insertion. A hit is put back at the end, so the first entry is the oldest.
  const entries = new Map<string, { answer: DnsAnswer<unknown>; at: number; forMs: number }>()
  const underWay = new Map<string, Promise<DnsAnswer<unknown>>>()

  function lifeMs(answer: DnsAnswer<unknown>): number {
    if (answer.kind === 'failed') return failedMs
    if (answer.kind !== 'records') return negativeMs
    if (answer.ttlMs === undefined) return positiveMs
    return Math.min(Math.max(answer.ttlMs, minMs), maxMs)
  }

  function keep(key: string, answer: DnsAnswer<unknown>): void {
    const forMs = lifeMs(answer)
    if (forMs <= 0 || sizeChars(answer) > maxAnswerChars) return
    keepNewest(entries, key, { answer, at: clock.now(), forMs }, maxEntries)
  }

  // The casts are sound: the key names the question, so an entry fits whoever finds it.
  async function recall<A extends DnsAnswer<unknown>>(
    question: string,
    asked: string,
    ask: (name: string) => Promise<A>,
  ): Promise<A> {
    const name = canonicalName(asked)
    const key = `${question} ${name}`
    const entry = entries.get(key)
    if (entry !== undefined) {
      entries.delete(key)
      if (isRecent(entry.at, clock.now(), entry.forMs)) {
        entries.set(key, entry)
        return entry.answer as A
      }
    }
    const shared = underWay.get(key)
    if (shared !== undefined) return (await shared) as A
    const fresh = ask(name)
    underWay.set(key, fresh)
    try {
      const answer = await fresh
      keep(key, answer)
      return answer
    } finally {
      underWay.delete(key)
    }
  }

  return {
    mx: (name) => recall('mx', name, inner.mx),
    a: (name) => recall('a', name, inner.a),
    aaaa: (name) => recall('aaaa', name, inner.aaaa),
    txt: (name) => recall('txt', name, inner.txt),
    cname: (name) => recall('cname', name, inner.cname),
    ptr: (address) => recall('ptr', address, inner.ptr),
    ...(validated && {
      validated: {
        mx: (name) => recall('validated mx', name, validated.mx),
        a: (name) => recall('validated a', name, validated.a),
        tlsa: (name) => recall('validated tlsa', name, validated.tlsa),
      },
    }),
  }
}

// Entries are counted, not weighed: a TXT answer of 64 KiB is asked for again rather than kept.
const maxAnswerChars = 8_192

function sizeChars(answer: DnsAnswer<unknown>): number {
  return answer.kind === 'records' ? JSON.stringify(answer.records).length : 0
}
