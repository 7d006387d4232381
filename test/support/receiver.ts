import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestCertificate } from './tls.js'

/** A webhook as it came in. */
export interface Received {
  body: string
  headers: IncomingMessage['headers']
  /** The connection's client port: the same where a connection is used again. */
  port: number | undefined
  /** The address that was connected to. */
  address: string | undefined
  // Tests look into whatever came.
  // biome-ignore lint/suspicious/noExplicitAny: a body has no type before it was looked at
  json: any
}

/** What to answer: a status, or anything done by hand (`undefined`: nothing, ever). */
export type Script = (
  got: Received,
  response: ServerResponse,
  count: number,
) => number | undefined | Promise<number>

export interface Receiver {
  url: string
  port: number
  received: Received[]
  /** The most webhooks that were being answered at the same time. */
  readonly most: number
  script: Script
  /** Resolves when `isSo` holds for the webhooks that have arrived. */
  until(isSo: (received: readonly Received[]) => boolean): Promise<void>
}

/** A local receiver of webhooks, over TLS with `certificate`, that behaves by script. */
export async function openReceiver(
  t: { teardown(close: () => unknown): void },
  options: { certificate?: TestCertificate; host?: string; script?: Script } = {},
): Promise<Receiver> {
  const { certificate, host = '127.0.0.1' } = options
  const waiting = new Set<() => void>()
  let now = 0
  const receiver = {
    received: [] as Received[],
    most: 0,
    script: options.script ?? (() => 200),
    until: (isSo: (received: readonly Received[]) => boolean) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (!isSo(receiver.received)) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  }
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const { remotePort: port, localAddress: address } = request.socket
    const got = { body, headers: request.headers, port, address, json: JSON.parse(body) }
    receiver.most = Math.max(receiver.most, ++now)
    response.once('close', () => now--)
    receiver.received.push(got)
    const status = await receiver.script(got, response, receiver.received.length)
    if (status !== undefined) response.writeHead(status).end('ok')
    for (const look of waiting) look()
  }
  const handle = (request: IncomingMessage, response: ServerResponse) =>
    void listener(request, response).catch(() => response.destroy())
  const server = certificate === undefined ? createPlain(handle) : createServer(certificate, handle)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const scheme = certificate === undefined ? 'http' : 'https'
  return Object.assign(receiver, { port, url: `${scheme}://127.0.0.1:${port}/hook` })
}
