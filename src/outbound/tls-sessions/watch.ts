import type { ConnectFailure } from '../../smtp/index.js'
import type { SmtpSession, TriedHost } from '../connections/index.js'
import {
  failureBy,
  faultOf,
  type Published,
  type TlsFailure,
  type TlsPolicy,
} from '../tls-policy/index.js'
import type { TlsCount } from './count.js'

/** Counts the sessions that an attempt for one domain sees. */
export function watchSessions(
  count: TlsCount,
  domain: string,
  publishedFor: (exchange: string) => Published,
) {
  return {
    /** A connection that was tried, whatever came of it. */
    tried({ exchange, address, demand, result, clear }: TriedHost): void {
      // The operator has switched TLS off.
      if (demand.mode === 'off') return
      const published = publishedFor(exchange)
      const at = { domain, published, exchange, receivingAddress: address }
      const { localAddress: sendingAddress = '' } = result
      if (result.kind === 'failed') {
        const failure = clear?.failure ?? failedBy(result)
        if (failure === undefined) return
        const receivingName = result.helo ?? ''
        count.add({ failure, receivingName, sendingAddress, ...at })
        return
      }
      const { tls, capabilities } = result.connection
      const failure =
        tls === undefined ? (clear?.failure ?? notSupported) : faultOf(published, exchange, tls)
      const receivingName = capabilities.name ?? ''
      count.add({ failure, receivingName, sendingAddress, ...at })
    },

    /** A session that was opened for another domain carries this one's mail too. */
    reused(session: SmtpSession): void {
      const { connection, exchange, address, demand, tlsFailed, localAddress } = session
      if (demand.mode === 'off' || session.countedFor.has(domain)) return
      session.countedFor.add(domain)
      const published = publishedFor(exchange)
      const { tls } = connection
      const failure =
        tls === undefined ? (tlsFailed?.failure ?? notSupported) : faultOf(published, exchange, tls)
      const receivingName = connection.capabilities.name ?? ''
      const at = { receivingAddress: address, receivingName, sendingAddress: localAddress ?? '' }
      count.add({ domain, published, failure, exchange, ...at })
    },
  }
}

/** The policy allows no host: that counts as a session that never began. */
export function countRefused(
  count: TlsCount,
  domain: string,
  { failed }: Extract<TlsPolicy, { deferred: string }>,
): void {
  const nobody = { receivingAddress: '', receivingName: '', sendingAddress: '' }
  count.add({ domain, ...failed, ...nobody })
}

// The server offers no STARTTLS.
const notSupported: TlsFailure = { type: 'starttls-not-supported' }

/** Undefined: TLS is not why it failed, or we broke it off. */
function failedBy({ tlsFailed, code, cause }: ConnectFailure): TlsFailure | undefined {
  return tlsFailed === true && code !== 'ABORT_ERR' ? failureBy(code, cause) : undefined
}
