import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '../errors/index.js'
import { type Head, hostOf, type NativeResponse } from './guard.js'
import type { Outgoing } from './reply.js'

/**
 * The way in of those whose TLS has ended before, or whom a proxy of the operator's speaks for: a Unix socket, on which each
 * connection begins with a PROXY header (version 2) that has a token in place of the client's address.
 */
export interface OverTls {
  /** The socket's path; only we may enter its folder. */
  socket: string
  /** The client that a token stands for; undefined for a token that was not given to any. */
  clientOf(token: ArrayBuffer): ClientInFront | undefined
  /** Nobody is served who comes past the socket. */
  only: boolean
  /**
   * Where somebody is sent on to who asks for a page without TLS: `https://host:port`; undefined where they
   * have to be served as they came. Default: so are all.
   */
  originOf?(host: string): string | undefined
  /** Headers of every answer that leaves by TLS to who asked for this host. Default: none. */
  headersOf?(host: string): Record<string, string>
}

/** A client as the listener in front has seen it. */
export interface ClientInFront {
  address: string
  /** Its TLS has ended there. */
  tls: boolean
}

// What the kernel has room for (unix(7)); uWS cuts longer ones off without a word.
const longestPath = 107

/** Makes the place for the socket. Throws an `OperatorError` where there can be none. */
export function prepareSocket({ socket }: OverTls): void {
  if (Buffer.byteLength(socket) > longestPath) {
    const most = `${longestPath} bytes are the most that the system takes`
    throw new OperatorError(
      `The data directory's path is too long for TLS: ${socket} is a socket, and ${most}`,
    )
  }
  mkdirSync(dirname(socket), { recursive: true, mode: 0o700 })
  // A process that was killed may have left its socket.
  rmSync(socket, { force: true })
}

/**
 * A client that came by the socket; undefined for one that came by TCP. Null: nobody can say whose
 * request it is, as a client put a PROXY header of its own before it, which uWS takes before every one.
 */
export function clientInFront(
  { clientOf }: OverTls,
  native: NativeResponse,
): ClientInFront | null | undefined {
  // A TCP connection has an address of its own, whatever a header says.
  if (native.getRemoteAddress().byteLength > 0) return undefined
  return clientOf(native.getProxiedRemoteAddress()) ?? null
}

/** For who asks without TLS what can be had with it. */
export function sendToTls({ originOf }: OverTls, head: Head): Outgoing | undefined {
  const origin = originOf?.(hostOf(head))
  if (origin === undefined) return undefined
  const query = head.query === '' ? '' : `?${head.query}`
  const location = `${origin}${head.path}${query}`.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
  // Not for ever, as without a limit browsers keep it: TLS may be turned off again.
  const headers = { Location: location, 'Cache-Control': 'max-age=3600' }
  return { status: 301, headers, body: '' }
}
