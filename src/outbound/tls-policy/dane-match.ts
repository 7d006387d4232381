import { createHash, type X509Certificate } from 'node:crypto'
import type { TlsaRecord } from '../../dns/index.js'
import type { CertificateFault } from '../../smtp/index.js'

/** The TLSA records that a host's certificate must match; only usable ones. */
export interface Anchors {
  records: readonly TlsaRecord[]
  /** Further names that the certificate may be for (RFC 7672 §3.2.2): recipient domain, alias. */
  names: readonly string[]
  /** Equal for anchors that accept the same certificates. */
  key: string
}

// RFC 7218 §2.1: DANE-TA and DANE-EE.
const usage = { trustAnchor: 2, endEntity: 3 }
// RFC 6698 §2.1.3, with the length of what they make.
const hashes: Record<number, { name: string; bytes: number }> = {
  1: { name: 'sha256', bytes: 32 },
  2: { name: 'sha512', bytes: 64 },
}

/** RFC 7672 §3.1.3: usages 0 and 1 have no meaning for SMTP, and values that we do not know cannot be used. */
export function isUsable({ usage: of, selector, matching, data }: TlsaRecord): boolean {
  if (of !== usage.trustAnchor && of !== usage.endEntity) return false
  if (selector !== 0 && selector !== 1) return false
  return matching === 0 ? data.length > 0 : hashes[matching]?.bytes === data.length
}

/**
 * What a certificate has to match; `names` are the names that a trust anchor's certificate may be for. Equal `key`s
 * mean equal demands, so that sessions can be shared.
 */
export function makeAnchors(usable: readonly TlsaRecord[], names: readonly string[]): Anchors {
  const records = usable
    .map((r) => `${r.usage} ${r.selector} ${r.matching} ${r.data.toString('hex')}`)
    .sort()
  // An end entity's record names no host, so domains with such a host can share sessions.
  const named = usable.some((record) => record.usage === usage.trustAnchor)
  return { records: usable, names, key: [...records, ...(named ? names : [])].join('\n') }
}

/** What is wrong with the certificate by RFC 7672 §3; `host` is the TLSA base domain. */
export function judgeByDane(
  chain: readonly X509Certificate[],
  anchors: Anchors,
  host: string,
  now: number,
): CertificateFault | undefined {
  const [own] = chain
  if (own === undefined) return { why: 'no certificate', code: 'UNSPECIFIED' }
  const { records, names } = anchors
  // §3.1.1: the record stands for the key alone; neither names nor dates are looked at.
  if (records.some((r) => r.usage === usage.endEntity && matches(own, r))) return undefined
  const anchor = chain.findIndex((certificate) =>
    records.some((r) => r.usage === usage.trustAnchor && matches(certificate, r)),
  )
  if (anchor < 0) {
    return { why: 'no TLSA record matches the certificate', code: 'DANE_NO_MATCH' }
  }
  // §3.1.2: below a trust anchor everything else holds as usual.
  if (![host, ...names].some((name) => own.checkHost(name) !== undefined)) {
    return { why: `the certificate is not for ${host}`, code: 'ERR_TLS_CERT_ALTNAME_INVALID' }
  }
  return brokenLink(chain.slice(0, anchor + 1), now)
}

/** RFC 5280 §6 as far as a mail server's chain needs it: signatures, issuers, dates. */
function brokenLink(chain: readonly X509Certificate[], now: number): CertificateFault | undefined {
  for (const [at, certificate] of chain.entries()) {
    const issuer = chain[at + 1]
    if (now < Date.parse(certificate.validFrom) || now > Date.parse(certificate.validTo)) {
      return {
        why: `certificate ${at + 1} of the chain is not in force today`,
        code: 'CERT_HAS_EXPIRED',
      }
    }
    if (at > 0 && !certificate.ca) {
      return { why: `certificate ${at + 1} of the chain may not issue others`, code: 'INVALID_CA' }
    }
    if (issuer === undefined) continue
    if (!certificate.checkIssued(issuer) || !certificate.verify(issuer.publicKey)) {
      const why = `certificate ${at + 1} of the chain is not signed by the next`
      return { why, code: 'CERT_SIGNATURE_FAILURE' }
    }
  }
  return undefined
}

/** Whether a certificate is the one that a record stands for, by RFC 6698 §2.1.2 and §2.1.3. */
function matches(certificate: X509Certificate, { selector, matching, data }: TlsaRecord): boolean {
  const whole = selector === 0
  const subject = whole
    ? certificate.raw
    : certificate.publicKey.export({ type: 'spki', format: 'der' })
  const hash = hashes[matching]
  if (hash === undefined) return subject.equals(data)
  return createHash(hash.name).update(subject).digest().equals(data)
}
