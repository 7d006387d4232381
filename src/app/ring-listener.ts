import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../clock/index.js'
import type { ApplianceKey, Config } from '../config/index.js'
import { messageOf, OperatorError } from '../errors/index.js'
import { type Log, makeSeldom } from '../log/index.js'
import { isLivingEpoch, makeRingGate, sealAnswer } from '../nodes/index.js'
import type { Read } from '../store/index.js'

/** More than a ring or an answer ever has: a hundred lanes, or an overview of many sites. */
export const mostRingBytes = 4_000_000

export interface RingListener {
  /** The address that other nodes are told. */
  address: string
  close(): Promise<void>
}

export interface RingListenerDeps {
  config: Pick<Config, 'node' | 'http'>
  key: ApplianceKey
  clock: Clock
  log: Log
  read: Read
  /** The epoch of this start. */
  epoch: number
}

/**
 * Hears other nodes' rings on a port of its own. A caller without the appliance key learns nothing and changes nothing.
 * Whoever repeats a ring that they overheard is refused, and so is a node whose epoch is over. Undefined where nobody
 * could know the address.
 */
export async function openRingListener(
  { config, key, clock, log, read, epoch }: RingListenerDeps,
  hear: (body: unknown) => Promise<unknown>,
): Promise<RingListener | undefined> {
  const where = placeOf(config)
  if (where === undefined) {
    log.warn(
      {},
      'Other nodes cannot ring here, as [http.private] host is not one IP address of this machine: name one as node.address',
    )
    return undefined
  }
  const gate = makeRingGate(key)
  const seldom = makeSeldom(clock)
  const refuse = (says: string) => {
    seldom(() => log.warn({ cause: says }, 'A ring of another node was refused'))
    return { status: 403, body: Buffer.from(says) }
  }
  const answerTo = async (request: IncomingMessage) => {
    const sealed = await bodyOf(request)
    const opened = gate.open(sealed, { epoch, now: clock.now() })
    if ('refused' in opened) return refuse(opened.refused)
    const { nonce, from } = opened.head
    if (!(await isLivingEpoch(read, from)))
      return refuse('The epoch of the node that it is from is over')
    return { status: 200, body: sealAnswer(key, nonce, (await hear(opened.body)) ?? null) }
  }
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    answerTo(request).then(
      ({ status, body }) => response.writeHead(status).end(body),
      (error: unknown) => {
        log.warn({ cause: messageOf(error) }, 'A ring of another node could not be answered')
        response.writeHead(500).end()
      },
    )
  })
  server.maxConnections = 64
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new OperatorError(
          `Other nodes cannot ring at ${where.host} port ${where.port}: ${error.message}. Name another address as node.address`,
        ),
      ),
    )
    server.listen(where.port, where.host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    address: `${where.host.includes(':') ? `[${where.host}]` : where.host}:${port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** An address that others can be told: neither `0.0.0.0` nor a name. */
function placeOf({ node, http }: RingListenerDeps['config']) {
  if (node.address !== '') return hostAndPort(node.address)
  const host = http.private.host === 'localhost' ? '127.0.0.1' : http.private.host
  const isOne = /^[\d.]+$|:/.test(host) && host !== '0.0.0.0' && host !== '::'
  return isOne ? { host, port: 0 } : undefined
}

/** Of `10.0.0.2:8027` or `[fd00::2]:8027`. */
export function hostAndPort(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(':')
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) }
}

/** The whole body; throws where it is longer than a ring may be. */
export async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of message) {
    size += part.length
    if (size > mostRingBytes) throw new Error('A node says more than it may')
    parts.push(part)
  }
  return Buffer.concat(parts)
}
