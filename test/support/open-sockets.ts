import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'

/** The TCP connections that this process opens, as the kernel sees them: a socket counts until it is closed. */
export function watchSockets(t: { teardown(stop: () => unknown): void }) {
  const sockets = new Set<Socket>()
  const open = () => [...sockets].filter(({ destroyed }) => !destroyed).length
  let most = 0
  const onSocket = (message: unknown) => {
    const { socket } = message as { socket: unknown }
    if (!(socket instanceof Socket)) return
    sockets.add(socket)
    most = Math.max(most, open())
  }
  subscribe('net.client.socket', onSocket)
  t.teardown(() => unsubscribe('net.client.socket', onSocket))
  return {
    open,
    /** The most connections at once since the watch began. */
    most: () => most,
  }
}
