import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { applianceKeyFile } from '../../src/app/index.js'
import { isPostgres } from './postgres.js'

/** PH_NODES=2, over PostgreSQL: two appliances answer a test's requests in turn. */
export const areTwo = isPostgres && process.env.PH_NODES === '2'

/** The settings of a node; empty where there is one appliance. */
export const nodeSettings = (name: string): Record<string, string> =>
  areTwo ? { POSTHORN_NODE_JOIN: 'true', POSTHORN_NODE_NAME: name } : {}

export const copyKey = (from: string, to: string) =>
  cpSync(applianceKeyFile(from), applianceKeyFile(to))

/** One address for several servers on this machine: each request goes to the next server, on its own connection. */
export async function inTurnAt(
  t: { teardown(stop: () => unknown): void },
  urls: readonly string[],
): Promise<string> {
  let next = 0
  const server = createServer((asked, answer) => {
    const to = new URL(urls[next++ % urls.length] ?? '')
    const passed = request(
      {
        host: to.hostname,
        port: to.port,
        method: asked.method,
        path: asked.url,
        headers: asked.headers,
        agent: false,
      },
      (got) => {
        answer.writeHead(got.statusCode ?? 502, got.rawHeaders)
        got.pipe(answer)
      },
    )
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
