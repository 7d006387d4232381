import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import t from 'tap'
import { aboutSqlite } from '../support/postgres.js'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

const dieAfterCommit = fileURLToPath(new URL('../support/die-after-commit.js', import.meta.url))

// It dies in SQLite's own commit; `test/postgres/keys.test.ts` is about a server's.
t.test(
  'kill -9 between the commit and the answer: the replay has the first result',
  aboutSqlite,
  async (t) => {
    const dataDir = makeTempDir(t)
    const { apiKey } = initSandbox(dataDir)
    const post = (url: string) =>
      fetch(`${url}/v1/emails/send`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          'idempotency-key': 'order-4711',
        },
        body: JSON.stringify({ from: 'a@example.test', to: 'b@one.test', subject: 's', html: 'x' }),
      })

    const first = await serve(t, dataDir, { NODE_OPTIONS: `--import=${dieAfterCommit}` })
    await t.rejects(post(first.url), 'the first request gets no answer')
    t.equal((await first.exited).signal, 'SIGKILL')
    const db = new Database(`${dataDir}/posthorn.db`, { readonly: true })
    t.teardown(() => db.close())
    const ids = () => db.prepare<[], string>('select id from emails').pluck().all()
    const committed = ids()
    t.equal(committed.length, 1)

    const second = await serve(t, dataDir, {})
    for (const attempt of ['the second', 'the third']) {
      const response = await post(second.url)
      t.equal(response.status, 200, attempt)
      t.equal(response.headers.get('idempotency-replay'), 'true', attempt)
      t.same(await response.json(), { id: committed[0], message: 'Email queued' }, attempt)
    }
    t.same(ids(), committed, 'it is one mail')
    t.equal(await second.kill('SIGTERM'), 0)
  },
)
