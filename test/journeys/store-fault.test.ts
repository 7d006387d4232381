// Thorough: processes whose disk fails.
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { aboutSqlite } from '../support/postgres.js'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { missing } from '../support/tools.js'

const failSync = fileURLToPath(new URL('../support/fail-sync.js', import.meta.url))

const skip = missing('gcc')

t.setTimeout(120_000)

function sandbox(t: Test) {
  const dataDir = makeTempDir(t)
  const { apiKey } = initSandbox(dataDir)
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  return {
    dataDir,
    get: (url: string, path: string) => fetch(`${url}${path}`, { headers }),
    send(url: string) {
      const mail = { from: 'a@example.test', to: 'b@one.test', subject: 's', html: 'x' }
      const body = JSON.stringify(mail)
      return fetch(`${url}/v1/emails/send`, { method: 'POST', headers, body })
    },
  }
}

/** Overwrites the first page of a table or index, as a disk might that returns other blocks than were written. */
function damage(dataDir: string, name: string): void {
  const file = join(dataDir, 'posthorn.db')
  const db = new Database(file)
  const pageSize = Number(db.pragma('page_size', { simple: true }))
  const root = db
    .prepare<[string], number>('select rootpage from sqlite_schema where name = ?')
    .pluck()
    .get(name)
  db.close()
  if (root === undefined) throw new Error(`no ${name}`)
  const open = openSync(file, 'r+')
  writeSync(open, Buffer.alloc(pageSize, 0xee), 0, pageSize, (root - 1) * pageSize)
  closeSync(open)
}

for (const thread of ['main', 'worker']) {
  t.test(
    `a sync that fails in a ${thread} thread ends the process, unanswered`,
    aboutSqlite,
    async (t) => {
      const { dataDir, send } = sandbox(t)
      const trigger = join(dataDir, 'fail')
      const first = await serve(t, dataDir, {
        NODE_OPTIONS: `--import=${failSync}`,
        POSTHORN_FAIL_SYNC: trigger,
        POSTHORN_FAIL_THREAD: thread,
      })
      t.equal((await send(first.url)).status, 200)
      writeFileSync(trigger, '')
      // Main syncs before it answers; a worker only when it writes down what became of the mail.
      const answer = await send(first.url).then(
        ({ status }) => status,
        () => 'none',
      )
      if (thread === 'main') t.equal(answer, 'none')
      t.same(await first.exited, { code: 74, signal: null })
      t.match(first.log(), /"cause":"EIO: i\/o error, fdatasync".*The disk did not take what was/)
      t.match(first.log(), /^error: The disk did not take .* kernel log/m, 'said plainly too')

      rmSync(trigger)
      const second = await serve(t, dataDir, {})
      t.equal((await send(second.url)).status, 200, 'the next start works')
      t.equal(await second.kill('SIGTERM'), 0)
    },
  )
}

t.test(
  "SQLite's own sync that fails, at a checkpoint, ends it too",
  { skip, ...aboutSqlite },
  async (t) => {
    const { dataDir, send } = sandbox(t)
    const [library, trigger] = [join(dataDir, 'fail.so'), join(dataDir, 'fail')]
    const options = ['-shared', '-fPIC', '-o', library, 'test/support/fail-sync.c', '-ldl']
    t.equal(spawnSync('gcc', options).status, 0)
    const env = { LD_PRELOAD: library, POSTHORN_FAIL_SYNC: trigger }
    const posthorn = await serve(t, dataDir, env)
    writeFileSync(trigger, '')
    await send(posthorn.url).catch(() => {})
    t.same(await posthorn.exited, { code: 74, signal: null })
    t.match(posthorn.log(), /"thread":"checkpoint".*The disk did not take/)
  },
)

t.test(
  'a page that turns out damaged ends the process, where it is only read',
  aboutSqlite,
  async (t) => {
    const { dataDir, get, send } = sandbox(t)
    damage(dataDir, 'contact_lists_account')
    const posthorn = await serve(t, dataDir, {})
    t.equal((await send(posthorn.url)).status, 200, 'nobody has looked there')
    await t.rejects(get(posthorn.url, '/v1/contacts/lists'), 'no answer at all')
    t.same(await posthorn.exited, { code: 65, signal: null })
    t.match(posthorn.log(), /"thread":"main".*The database in .* is damaged, so Posthorn ends/)
    t.match(posthorn.log(), /^error: .*: database disk image is malformed.*restore posthorn\.db/m)
  },
)

t.test('so it does where a worker thread finds it, in a write', aboutSqlite, async (t) => {
  const { dataDir, send } = sandbox(t)
  damage(dataDir, 'sandbox_sources')
  const posthorn = await serve(t, dataDir, {})
  await send(posthorn.url).catch(() => {})
  t.same(await posthorn.exited, { code: 65, signal: null })
  t.match(posthorn.log(), /"thread":"sandbox".*is damaged, so Posthorn ends/)
})

t.test(
  'a start on a file that is no database ends with the status that no start follows',
  aboutSqlite,
  async (t) => {
    const { dataDir } = sandbox(t)
    writeFileSync(join(dataDir, 'posthorn.db'), 'something else\n'.repeat(999))
    const ended = serve(t, dataDir, {}).catch((error: Error) => error)
    t.match(await ended, {
      message: /serve ended with 65: .*Restore the database.*file is not a database/s,
    })
  },
)
