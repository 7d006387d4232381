/** The only source of DNS answers; tests pass a fake one (`test/support/resolver.ts`). */
export interface Resolver {
  mx(name: string): Promise<Answer<MxRecord>>
  a(name: string): Promise<Answer<string>>
  aaaa(name: string): Promise<Answer<string>>
  /** Each record with its strings joined (RFC 7208 §3.3). */
  txt(name: string): Promise<Answer<string>>
  cname(name: string): Promise<Answer<string>>
  ptr(address: string): Promise<Answer<string>>
}

export interface MxRecord {
  /** Lower case, no trailing dot; empty for a null MX (RFC 7505). */
  exchange: string
  preference: number
}

/**
 * What the DNS said. A failure to get an answer is not an answer: `failed` (SERVFAIL, timeout)
 * is temporary, `nxdomain` and `none` are definite.
 */
export type Answer<T> =
  | { kind: 'records'; records: T[] }
  | { kind: 'none' }
  | { kind: 'nxdomain' }
  | { kind: 'failed'; cause: string }
