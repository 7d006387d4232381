import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '../errors/index.js'
import { type Head, hostOf, type NativeResponse } from './guard.js'
import type { Outgoing } from './reply.js'

/**
 * The way in for clients whose TLS ended in front, or for whom a proxy of the operator's speaks: a Unix socket, on
 * which each connection begins with a PROXY header (version 2) that has a token in place of the client's address.
 */
export interface OverTls {
  /** The socket's path; only we may enter its folder. */
  socket: string
  /** The client that a token stands for; undefined for a token that no client was given. */
  clientOf(token: ArrayBuffer): ClientInFront | undefined
  /** Only clients that come by the socket are served. */
  only: boolean
  /**
   * Where a client that asks for a page without TLS is sent: `https://host:port`; undefined if it must be
   * served without. By default all are.
   */
  originOf?(host: string): string | undefined
  /** Headers of every answer by TLS to a client that asked for this host. Default: none. */
  headersOf?(host: string): Record<string, string>
}

/** A client as the listener in front has seen it. */
export interface ClientInFront {
  address: string
  /** Its TLS ended there. */
  tls: boolean
}

// The longest path that the kernel takes (unix(7)); uWS cuts longer ones off silently.
const longestPath = 107

/** Makes the place for the socket. Throws an `OperatorError` if it cannot. */
export function prepareSocket({ socket }: OverTls): void {
  if (Buffer.byteLength(socket) > longestPath) {
    const most = `${longestPath} bytes are the most that the system takes`
    throw new OperatorError(
      `The data directory's path is too long for TLS: ${socket} is a socket, and ${most}`,
    )
  }
  mkdirSync(dirname(socket), { recursive: true, mode: 0o700 })
  // A killed process may have left its socket.
  rmSync(socket, { force: true })
}

/**
 * A client that came by the socket; undefined for one that came by TCP. Null: the client is unknown, as
 * it put a PROXY header of its own before the request; uWS takes one before every request.
 */
export function clientInFront(
  { clientOf }: OverTls,
  native: NativeResponse,
): ClientInFront | null | undefined {
  // A TCP connection has an address of its own, whatever a header says.
  if (native.getRemoteAddress().byteLength > 0) return undefined
  return clientOf(native.getProxiedRemoteAddress()) ?? null
}

/** Sends a client without TLS to the same page with TLS. */
export function sendToTls({ originOf }: OverTls, head: Head): Outgoing | undefined {
  const origin = originOf?.(hostOf(head))
  if (origin === undefined) return undefined
  const query = head.query === '' ? '' : `?${head.query}`
  const location = `${origin}${head.path}${query}`.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
  // With a limit, as browsers keep it for ever otherwise, and TLS may be turned off again.
  const headers = { Location: location, 'Cache-Control': 'max-age=3600' }
  return { status: 301, headers, body: '' }
}
