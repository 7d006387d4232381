import { createSocket } from 'node:dgram'
import { once } from 'node:events'

export interface TimeServer {
  port: number
  /** How many milliseconds it is ahead of this machine. */
  ahead: number
  /** What it changes about its answers. */
  spoil?: (reply: Buffer) => void
}

/** An NTP server on loopback; the test's end stops it. */
export async function timeServer(
  t: { teardown(stop: () => unknown): void },
  ahead = 0,
): Promise<TimeServer> {
  const socket = createSocket('udp4')
  const server: TimeServer = { port: 0, ahead }
  socket.on('message', (request, from) => {
    const reply = Buffer.alloc(48)
    reply[0] = 0x24 // version 4, mode server
    reply[1] = 2
    request.copy(reply, 24, 40, 48)
    const now = (Date.now() + server.ahead) / 1_000 + 2_208_988_800
    for (const at of [32, 40]) {
      reply.writeUInt32BE(Math.floor(now) % 2 ** 32, at)
      reply.writeUInt32BE(Math.floor((now % 1) * 2 ** 32), at + 4)
    }
    server.spoil?.(reply)
    socket.send(reply, from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  server.port = socket.address().port
  t.teardown(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  return server
}
