/** The only source of DNS answers; tests pass a fake one (`test/support/resolver.ts`). */
export interface Resolver {
  mx(name: string): Promise<DnsAnswer<MxRecord>>
  a(name: string): Promise<DnsAnswer<string>>
  aaaa(name: string): Promise<DnsAnswer<string>>
  /** Each record with its strings joined (RFC 7208 §3.3). */
  txt(name: string): Promise<DnsAnswer<string>>
  cname(name: string): Promise<DnsAnswer<string>>
  /** The names of an IPv4 or IPv6 address. */
  ptr(address: string): Promise<DnsAnswer<string>>
  /** Present when a validating resolver is configured; DANE relies on nothing else. */
  readonly validated?: ValidatedResolver
}

export type QuestionKind = Exclude<keyof Resolver, 'validated'>

/** A question that a thread which reads mail may have asked on its behalf. */
export type DnsQuestion = Exclude<QuestionKind, 'ptr'>

/** Questions whose answers tell whether DNSSEC vouches for them. Never rejects. */
export interface ValidatedResolver {
  mx(name: string): Promise<ValidatedAnswer<MxRecord>>
  a(name: string): Promise<ValidatedAnswer<string>>
  tlsa(name: string): Promise<ValidatedAnswer<TlsaRecord>>
}

/**
 * `secure`: the resolver checked the signatures of the answer, or of the denial, up to the root
 * (RFC 4035 §3.2.3). `name` is where the CNAMEs led to. A forged answer is `failed`.
 */
export type ValidatedAnswer<T> = DnsAnswer<T> & { secure: boolean; name?: string }

/** RFC 6698 §2.1: what a server's certificate must match. */
export interface TlsaRecord {
  usage: number
  selector: number
  matching: number
  data: Buffer
}

export interface MxRecord {
  /** Lower case, no trailing dot; empty for a null MX (RFC 7505). */
  exchange: string
  preference: number
}

/**
 * What the DNS said. A failure to get an answer is not an answer: `failed` (SERVFAIL, timeout)
 * is temporary, `nxdomain` and `none` are definite. Records are shared with a cache: never change
 * them. `ttlMs` is there when the source told it (A and AAAA only: Node hides the others).
 */
export type DnsAnswer<T> =
  | { kind: 'records'; records: readonly T[]; ttlMs?: number }
  | { kind: 'none' }
  | { kind: 'nxdomain' }
  | { kind: 'failed'; cause: string }

/** The one spelling of a domain name in tables, caches and comparisons. */
export function canonicalName(name: string): string {
  const lower = name.toLowerCase()
  return lower.endsWith('.') ? lower.slice(0, -1) : lower
}

/** Whether a name is the same as another or lies below it; both in canonical form. */
export const isBelow = (name: string, above: string) => name === above || name.endsWith(`.${above}`)
