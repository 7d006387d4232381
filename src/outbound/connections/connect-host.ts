import { keepNewest } from '../../bounded/index.js'
import { type Clock, dayMs } from '../../clock/index.js'
import type { Log } from '../../log/index.js'
import {
  type ConnectResult,
  type Cut,
  connectSmtp,
  type Deadlines,
  type Loss,
} from '../../smtp/index.js'
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

/** Connects to one address at a time, and knows which hosts are talked to in the clear. */
export interface HostConnector {
  /** `before` gets a line about each try there that failed, for the record. `clear`: why TLS is not to be tried. */
  connect(
    host: Host,
    from: ConnectFrom,
    demand: TlsDemand,
    before: string[],
    clear?: InTheClear,
  ): Promise<ConnectResult & { clear?: InTheClear }>
  /** The host takes mail in the clear, and its TLS breaks. */
  stayInTheClear(host: Host, clear: InTheClear): void
  /** The host takes no mail in the clear. */
  tryTlsAgain(host: Host): void
}

/** What every connection needs. */
export interface ConnectOptions {
  clock: Clock
  log: Log
  /** PEM of the authorities trusted instead of the usual ones. */
  ca?: string
  /** Breaks off all connections that are being opened. */
  signal: AbortSignal
}

// How long a host whose TLS is broken is talked to in the clear (KumoMTA).
const plainMs = 3 * dayMs
const maxPlainHosts = 10_000
/** No TLS at all. */
export const inTheClear: TlsDemand = { mode: 'off', by: '' }

/** Opportunistic TLS that turns out broken is worth one try without (RFC 7435 §3), which is remembered. */
export function makeHostConnector({ clock, log, ca, signal }: ConnectOptions): HostConnector {
  const plainUntil = new Map<string, InTheClear & { at: number }>()
  const connect = ({ exchange, address }: Host, from: ConnectFrom, demand: TlsDemand) =>
    connectSmtp({
      host: address,
      servername: exchange,
      ...from,
      tls: { ...tlsOptions(demand, () => clock.now(), exchange), ...(ca && { ca }) },
      signal,
    })

  const stayInTheClear = ({ exchange, address }: Host, clear: InTheClear) => {
    keepNewest(plainUntil, exchange, { at: clock.now() + plainMs, ...clear }, maxPlainHosts)
    // Somebody on the way may have broken TLS on purpose.
    log.warn({ exchange, address, why: clear.why }, 'TLS is broken there, mail goes without')
  }

  return {
    async connect(host, from, demand, before, known) {
      // Where a policy asks for TLS there is no way back into the clear.
      if (demand.mode !== 'opportunistic') return await connect(host, from, demand)
      const { exchange, address } = host
      const plain = plainUntil.get(exchange)
      const clear = known ?? (plain !== undefined && plain.at > clock.now() ? plain : undefined)
      if (clear !== undefined) return { ...(await connect(host, from, inTheClear)), clear }
      const result = await connect(host, from, demand)
      if (result.kind === 'ready' || result.tlsFailed !== true) return result
      const broken = brokenTls(result)
      before.push(`${exchange} [${address}]: ${broken.why}`, result.transcript)
      const second = await connect(host, from, inTheClear)
      if (second.kind === 'ready') stayInTheClear(host, broken)
      return { ...second, clear: broken }
    },
    stayInTheClear,
    tryTlsAgain({ exchange }) {
      plainUntil.delete(exchange)
    },
  }
}

/** Why a host whose TLS was lost is talked to in the clear. */
export const brokenTls = ({ code, cause }: Loss): InTheClear => ({
  why: `TLS failed: ${cause}`,
  failure: failureBy(code, cause),
})
