import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { FakeClock } from '../support/clock.js'
import type { Dying } from '../support/die-in-tls-reports.js'
import { aboutSqlite } from '../support/postgres.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { testCertificates } from '../support/tls.js'

// On a machine that may have other work.
t.setTimeout(300_000)

const dying = fileURLToPath(new URL('../support/die-in-tls-reports.js', import.meta.url))
const certificates = await testCertificates(t, 'reports.test')
const web = await certificates.issue('reports.test')
const dayMs = 86_400_000

for (const { point, uploads } of [
  { point: 'insert into "tls_report_posts"', uploads: 1 },
  { point: 'ring', uploads: 1 },
  // What was sent is not noted, so it is sent again: with the same id.
  { point: 'update "tls_report_posts" set "state"', uploads: 2 },
]) {
  t.test(
    `kill -9 between sending and noting sends one mail, and one id: ${point}`,
    aboutSqlite,
    async (t) => {
      const ids: string[] = []
      const server = createServer(web, async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk)
        ids.push(JSON.parse(gunzipSync(Buffer.concat(chunks)).toString())['report-id'])
        response.writeHead(201).end()
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      t.teardown(() => server.close())
      const { port } = server.address() as AddressInfo

      const dataDir = makeTempDir(t)
      const clock = new FakeClock(Date.UTC(2026, 10, 21, 22))
      const store = await openTestStore(t, { clock, dataDir })
      const account = await createAccount({ store, clock }, 'Shop')
      const key = makeApplianceKey(Buffer.alloc(32, 7))
      await addDomain({ store, clock, key }, account.id, 'sender.test', { trust: true })
      await store.write((tx) =>
        tx
          .insertInto('tls_sessions')
          .values({
            day: Math.floor(clock.now() / dayMs),
            domain: 'open.test',
            sessions: 3,
            policy_type: 'no-policy-found',
            policy: '{"text":[],"mx":[]}',
            result: '',
            reason: '',
            mx_host: '',
            mx_name: '',
            receiving_address: '',
            sending_address: '',
          })
          .execute(),
      )
      const rua = `mailto:tls@rua.test,https://reports.test:${port}/v1`
      const txt = { '_smtp._tls.open.test': `v=TLSRPTv1; rua=${rua}` }
      const run = async (at: string, afterMs: number) => {
        const now = clock.now() + afterMs
        const given: Dying = { dataDir, now, txt, ca: certificates.ca.cert, point: at }
        const child = spawn(process.execPath, [dying, JSON.stringify(given)], { stdio: 'inherit' })
        const [code, signal] = await once(child, 'exit')
        return signal ?? code
      }
      t.equal(await run(point, 7 * 3_600_000), 'SIGKILL')
      // Past the pause before an upload is tried again.
      t.equal(await run('nowhere', 8 * 3_600_000), 0)
      t.equal(await run('nowhere', 9 * 3_600_000), 0)
      const mails = await store.read.selectFrom('emails').select('subject').execute()
      t.match(mails, [{ subject: /^Report Domain: open\.test / }])
      t.equal(mails.length, 1)
      t.equal(ids.length, uploads)
      t.equal(new Set(ids).size, 1)
      const posts = await store.read.selectFrom('tls_report_posts').select('state').execute()
      t.same(posts, [{ state: 'sent' }, { state: 'sent' }])
    },
  )
}
