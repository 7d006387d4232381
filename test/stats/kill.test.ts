// Thorough: processes that are killed while they bring figures forward.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { questionOf, readStats, rollUp } from '../../src/stats/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { aboutSqlite } from '../support/postgres.js'
import { initSandbox, type Serving, serve } from '../support/process.js'
import { databaseIn, makeTempDir } from '../support/store.js'

// On a machine that may have other work.
t.setTimeout(300_000)

const preload = fileURLToPath(new URL('../support/die-in-roll-up.js', import.meta.url))

for (const point of ['figures', 'commit', 'committed']) {
  // The moments are those of better-sqlite3.
  t.test(
    `kill -9 in the middle of a slice leaves the figures right: ${point}`,
    aboutSqlite,
    async (t) => {
      const dataDir = join(makeTempDir(t), 'data')
      const { apiKey, accountId } = initSandbox(dataDir)
      const send = async ({ url }: Serving) => {
        const response = await fetch(`${url}/v1/emails/send`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({
            from: 'a@example.test',
            to: 'b@one.test',
            subject: 's',
            html: 'x',
            tags: [{ name: 'plan', value: 'pro' }],
          }),
        })
        return response.status
      }
      const env = { POSTHORN_OUTBOUND_THREADS: '1' }
      const dying = await serve(t, dataDir, {
        ...env,
        NODE_OPTIONS: `--import ${preload}`,
        POSTHORN_TEST_DIE_AT: point,
      })
      await Promise.all([send(dying).catch(() => 0), send(dying).catch(() => 0)])
      t.match(await dying.exited, { signal: 'SIGKILL' })
      t.match(dying.log(), `died at: ${point}`)
      const again = await serve(t, dataDir, env)
      t.equal(await send(again), 200)
      await again.kill('SIGTERM')

      const store = await openStore({
        ...(await databaseIn(dataDir)),
        clock: systemClock,
        turns: makeTurns(),
        slot: 0,
      })
      t.teardown(() => store.close())
      while (await rollUp(store)) {}
      const { length: mails } = await store.read.selectFrom('emails').select('id').execute()
      const { length: delivered } = await store.read
        .selectFrom('events')
        .select('id')
        .where('type', '=', 'delivered')
        .execute()
      t.ok(mails >= 1)
      for (const groupBy of ['day', 'tag']) {
        const question = questionOf({ groupBy }, systemClock.now())
        const { total, groups } = await readStats(store.read, accountId, question)
        t.match(total, { mails, accepted: mails, delivered })
        t.match(groups.at(-1), { mails, delivered })
      }
      const { length: left } = await store.read.selectFrom('figures').select('key').execute()
      t.ok(left > 0, 'all of it kept')
    },
  )
}
