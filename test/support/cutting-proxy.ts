import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A connection to a server on this machine that a test can cut. */
export interface CuttingProxy {
  port: number
  /** Nothing gets through in either direction and nobody is told, as where a cable is out; until `mend`. */
  cut(): void
  /** Ends the connections that were open, because their peers have lost bytes. */
  mend(): void
}

export async function cuttingProxy(
  t: { teardown(stop: () => unknown): void },
  to: number,
): Promise<CuttingProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let isCut = false
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      near.destroy()
      far.destroy()
    }
    for (const [from, other] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', end)
      from.on('close', () => {
        if (!isCut) end()
      })
      from.on('data', (chunk: Buffer) => {
        if (!isCut && !other.destroyed) other.write(chunk)
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endAll = () => {
    for (const [near, far] of pairs) {
      near.destroy()
      far.destroy()
    }
    pairs.clear()
  }
  t.teardown(() => {
    endAll()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true
    },
    mend() {
      isCut = false
      endAll()
    },
  }
}
