import { notOffered, type TlsSession } from '../../smtp/index.js'
import type { HostDane } from './dane.js'
import type { StsFound, StsProblem } from './sts.js'
import type { StsPolicy } from './sts-cache.js'
import { coversHost } from './sts-text.js'

/** What a domain publishes about TLS with one of its hosts, in the form of the reports (RFC 8460 §4.4). */
export interface Published {
  type: 'tlsa' | 'sts' | 'no-policy-found'
  /** The policy in lines, as it was found. */
  text: readonly string[]
  /** The patterns of an `sts` policy; the host of `tlsa` records. */
  mx: readonly string[]
  /** What is wrong with the policy, whatever sessions do. */
  problem?: TlsFailure
}

/** What is wrong with a session, in the words of RFC 8460 §4.3. */
export interface TlsFailure {
  type:
    | 'starttls-not-supported'
    | 'certificate-host-mismatch'
    | 'certificate-expired'
    | 'certificate-not-trusted'
    | 'validation-failure'
    | 'tlsa-invalid'
    | 'dnssec-invalid'
    | StsProblem['type']
  /** For people; undefined where the type says it all. */
  reason?: string | undefined
}

/** No policy at all. */
export const nothingPublished: Published = { type: 'no-policy-found', text: [], mx: [] }

/** The policy that counts for the host: DANE before MTA-STS (RFC 8461 §2). */
export function publishedBy(exchange: string, dane: HostDane, sts: StsFound): Published {
  if (dane !== undefined && !('failed' in dane)) {
    const { verify } = dane
    const records = typeof verify === 'object' ? verify.records : []
    const text = records.map(
      (r) => `${r.usage} ${r.selector} ${r.matching} ${r.data.toString('hex')}`,
    )
    if (records.length > 0) return { type: 'tlsa', text, mx: [exchange] }
    if (sts.policy?.mode !== 'enforce') {
      return { type: 'tlsa', text, mx: [exchange], problem: { type: 'tlsa-invalid' } }
    }
  }
  const { policy, problem } = sts
  // RFC 8461 §5: `none` counts as if nothing were published.
  if (policy !== undefined && policy.mode !== 'none') {
    return { type: 'sts', text: linesOf(policy), mx: policy.mx }
  }
  return problem === undefined ? nothingPublished : { type: 'sts', text: [], mx: [], problem }
}

/** A policy in the lines of its file (RFC 8461 §3.2). */
const linesOf = ({ mode, mx, maxAgeMs }: StsPolicy): string[] => [
  'version: STSv1',
  `mode: ${mode}`,
  ...mx.map((pattern) => `mx: ${pattern}`),
  `max_age: ${maxAgeMs / 1_000}`,
]

/** RFC 8461 §4.1: the host is in no line of the policy. */
export const notCovered: TlsFailure = { type: 'validation-failure', reason: 'mx-mismatch' }

/** What is wrong with an open session, by what is published; undefined: nothing. */
export function faultOf(
  published: Published,
  exchange: string,
  tls: TlsSession,
): TlsFailure | undefined {
  if (published.problem !== undefined) return published.problem
  if (published.type === 'no-policy-found') return undefined
  if (published.type === 'sts' && !coversHost(published.mx, exchange)) return notCovered
  return tls.authorized ? undefined : failureBy(tls.authorizationCode)
}

// RFC 8460 §4.3.1. A code in no row is 'certificate-not-trusted' or 'validation-failure', and is told too.
const byCode: Record<string, TlsFailure['type']> = {
  [notOffered]: 'starttls-not-supported',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate-host-mismatch',
  HOSTNAME_MISMATCH: 'certificate-host-mismatch',
  CERT_HAS_EXPIRED: 'certificate-expired',
}
// Codes that say that nobody vouches for the certificate.
const untrusted =
  /^(?:DANE_NO_MATCH|INVALID_CA|INVALID_PURPOSE|CERT_|UNABLE_TO_|PATH_LENGTH_|UNSPECIFIED$)|SELF_SIGNED/

/** The failure that a code stands for, of OpenSSL or of ours. */
export function failureBy(code: string | undefined, why?: string): TlsFailure {
  const type = code === undefined ? undefined : byCode[code]
  if (type !== undefined) return { type }
  if (code !== undefined && untrusted.test(code)) {
    return { type: 'certificate-not-trusted', reason: code }
  }
  return { type: 'validation-failure', reason: code ?? why }
}
