import type { TlsOptions, TlsSession } from '../../smtp/index.js'
import { type Anchors, judgeByDane } from './dane-match.js'

/** What a delivery needs of a session with one host. */
export interface TlsDemand {
  mode: TlsOptions['mode']
  /** The certificate must be good for the host's name, or match its TLSA records. */
  verify?: 'name' | Anchors
  /** Who demands it, for the record: `MTA-STS enforce`; empty for the usual demand. */
  by: string
  /** The owner is trying the policy out: what it would refuse is reported and not refused. */
  rehearsal?: { fails(tls: TlsSession | undefined): string | undefined }
}

/** Where nothing is known of the host: encrypted if possible, with any certificate (RFC 7435). */
export const usualDemand: TlsDemand = { mode: 'opportunistic', by: '' }

/** Whether a session that was opened for another delivery is good enough for this one. */
export function meets(
  session: { tls?: TlsSession | undefined; demand: TlsDemand },
  wanted: TlsDemand | undefined,
): boolean {
  if (wanted === undefined) return false
  const { tls, demand } = session
  if (wanted.mode === 'off') return tls === undefined
  // A session may be in the clear by an operator's word for another domain, which does not tell what the host can do.
  if (tls === undefined) return wanted.mode === 'opportunistic' && demand.mode !== 'off'
  if (wanted.verify === undefined) return true
  if (wanted.verify === 'name') return tls.authorized && typeof demand.verify !== 'object'
  return typeof demand.verify === 'object' && demand.verify.key === wanted.verify.key
}

/** The demand in the SMTP client's words; `now` is when the certificate must be in force. */
export function tlsOptions(demand: TlsDemand, now: () => number, host: string): TlsOptions {
  const { mode, verify } = demand
  if (verify === undefined) return { mode }
  if (verify === 'name') return { mode, verify: true }
  return { mode, verify: true, judge: (chain) => judgeByDane(chain, verify, host, now()) }
}

/** For the record: `TLSv1.3 TLS_AES_256_GCM_SHA384 (verified, MTA-STS enforce)`. */
export function tlsInWords(tls: TlsSession | undefined, demand: TlsDemand): string | undefined {
  const would = demand.rehearsal?.fails(tls)
  const by = would === undefined ? demand.by : `${demand.by}, would refuse: ${would}`
  if (tls === undefined) return by === '' ? undefined : `none (${by})`
  const checked = tls.authorized ? 'verified' : 'unverified'
  return `${tls.version} ${tls.cipher} (${by === '' ? checked : `${checked}, ${by}`})`
}
