import { createServer } from 'node:net'
import { type FrontOptions, makeFrontDoor, type OpenFront, openPort } from './front-door.js'

/**
 * Hands over connections without TLS that come through proxies: uWS would take a PROXY header before every request, so
 * that a client behind a proxy could write one itself. Throws an `OperatorError` if it can't listen.
 */
export async function openPlainListener(options: FrontOptions): Promise<OpenFront> {
  const { admit, handOver, ...front } = makeFrontDoor(options)
  const server = createServer({ noDelay: true }, (incoming) =>
    admit(incoming, (client) => handOver(client, client)),
  )
  const port = await openPort(server, options)
  options.log.info({ host: options.host, port, listener: options.name }, 'Listens behind proxies')
  return {
    port,
    get connections() {
      return front.connections()
    },
    close: () => front.close(server),
  }
}
