import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'

/** What happens to the next COMMIT: `lost` never reaches the server; `unanswered` does, but its answer is lost. */
export type Cut = 'lost' | 'unanswered'

// PostgreSQL's protocol (Message Formats): Query, its length, the text and a zero.
const commit = Buffer.from('Q\0\0\0\x0bcommit\0', 'latin1')

/** A proxy before a PostgreSQL server that breaks connections in the middle of a COMMIT. */
export async function commitCutter(
  t: { teardown(stop: () => unknown): void },
  port: number,
): Promise<{ port: number; cutNext(how: Cut): Promise<void> }> {
  const sockets = new Set<Socket>()
  let next: { how: Cut; cut: () => void } | undefined
  const server = createServer((client) => {
    const upstream = dial(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    upstream.on('data', (chunk) => client.write(chunk))
    upstream.on('close', () => client.destroy())
    client.on('close', () => upstream.end())
    client.on('data', (chunk) => {
      if (next === undefined || !chunk.includes(commit)) {
        upstream.write(chunk)
        return
      }
      const { how, cut } = next
      next = undefined
      upstream.removeAllListeners('data')
      if (how === 'lost') {
        upstream.destroy()
        client.destroy()
        cut()
      } else {
        // The server surely has the COMMIT before its client is gone.
        upstream.write(chunk, () => client.destroy())
        upstream.once('data', cut)
        setTimeout(cut, 500)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    cutNext: (how) =>
      new Promise((resolve) => {
        next = { how, cut: resolve }
      }),
  }
}
