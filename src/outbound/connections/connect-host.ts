import { keepNewest } from '../../bounded/index.js'
import { type Clock, dayMs } from '../../clock/index.js'
import type { Log } from '../../log/index.js'
import { type ConnectResult, type Cut, connectSmtp, type Deadlines } from '../../smtp/index.js'
import { failureBy, type TlsDemand, tlsOptions } from '../tls-policy/index.js'
import type { InTheClear } from './session.js'

/** How to connect, whatever the host. */
export interface ConnectFrom {
  port: number
  localAddress?: string
  heloName: string
  cut: Cut | undefined
  deadlines?: Partial<Deadlines>
}

/** One address of a mail server, and the server's name. */
export interface Host {
  exchange: string
  address: string
}

/**
 * Connects to one address. `before`: gets lines about what was tried there in vain, for the record.
 */
export type ConnectHost = (
  host: Host,
  from: ConnectFrom,
  demand: TlsDemand,
  before: string[],
) => Promise<ConnectResult & { clear?: InTheClear }>

/** What every connection needs. */
export interface ConnectOptions {
  clock: Clock
  log: Log
  /** PEM of the authorities trusted instead of the usual ones. */
  ca?: string
  /** Breaks off all that are being opened. */
  signal: AbortSignal
}

// How long a host whose TLS is broken is talked to in the clear (KumoMTA).
const plainMs = 3 * dayMs
const maxPlainHosts = 10_000
/** No TLS at all. */
export const inTheClear: TlsDemand = { mode: 'off', by: '' }

/** Opportunistic TLS that turns out broken is worth one try without (RFC 7435 §3), which is remembered. */
export function makeConnectHost({ clock, log, ca, signal }: ConnectOptions): ConnectHost {
  const plainUntil = new Map<string, InTheClear & { at: number }>()
  const connect = ({ exchange, address }: Host, from: ConnectFrom, demand: TlsDemand) =>
    connectSmtp({
      host: address,
      servername: exchange,
      ...from,
      tls: { ...tlsOptions(demand, () => clock.now(), exchange), ...(ca && { ca }) },
      signal,
    })

  return async (host, from, demand, before) => {
    // Where anybody asks for TLS there is no way back into the clear.
    if (demand.mode !== 'opportunistic') return await connect(host, from, demand)
    const { exchange, address } = host
    const now = clock.now()
    const plain = plainUntil.get(exchange)
    if (plain !== undefined && plain.at > now) {
      return { ...(await connect(host, from, inTheClear)), clear: plain }
    }
    const result = await connect(host, from, demand)
    if (result.kind === 'ready' || result.tlsFailed !== true) return result
    const why = `TLS failed: ${result.cause}`
    const clear = { why, failure: failureBy(result.code, result.cause) }
    before.push(`${exchange} [${address}]: ${why}`, result.transcript)
    const second = await connect(host, from, inTheClear)
    if (second.kind === 'ready') {
      keepNewest(plainUntil, exchange, { at: now + plainMs, ...clear }, maxPlainHosts)
      // Somebody on the way may have broken it on purpose.
      const { phase, cause } = result
      log.warn({ exchange, address, phase, cause }, 'TLS is broken there, mail goes without')
    }
    return { ...second, clear }
  }
}
