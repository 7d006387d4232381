import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { questionOf, readStats } from '../../src/stats/index.js'
import { makeTurns, migrateStore, openStore } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { day, openMailLog } from '../support/mail-log.js'
import { makeTempDir } from '../support/store.js'
import { thoroughly } from '../support/thorough.js'

// On a machine that may have other work.
t.setTimeout(300_000)

const dying = fileURLToPath(new URL('../support/die-in-retention.js', import.meta.url))

const points = [
  'delete from "emails"',
  'delete from "deliveries"',
  'delete from "bodies"',
  'update "body_uses"',
  'insert into "body_uses"',
  'update "emails" set "body_id"',
  'delete from "content_pieces"',
  'commit',
]

for (const point of thoroughly(['delete from "deliveries"', 'commit'], points)) {
  t.test(
    `kill -9 in the middle of a slice leaves all of a mail or nothing: ${point}`,
    async (t) => {
      const dataDir = makeTempDir(t)
      await migrateStore({ dataDir })
      // Long ago by the clock of the process that is killed.
      const clock = new FakeClock(systemClock.now() - 40 * day)
      const store = await openStore({ dataDir, clock, turns: makeTurns(), slot: 0 })
      const log = await openMailLog(t, { plan: 'Growth', store, clock, dataDir })
      for (let n = 0; n < 60; n++) {
        const file = Buffer.alloc(n % 7 === 0 ? 3_000_000 : 10, `${n}`)
        await log.accept([
          { html: `body ${n % 20}`, files: [file], to: ['a@one.test', 'b@two.test'] },
        ])
      }
      await log.deliver()
      await clock.advance(35 * day)
      await log.accept(Array.from({ length: 50 }, (_, n) => ({ html: `body ${n % 20}` })))
      await log.deliver()
      await log.rollUp()
      const question = questionOf({ groupBy: 'day' }, systemClock.now())
      const figures = () => readStats(store.read, log.accountId, question)
      const before = await figures()

      const run = (at: string) =>
        spawnSync(process.execPath, [dying, dataDir, at], { encoding: 'utf8', timeout: 120_000 })
      const killed = run(point)
      t.equal(killed.signal, 'SIGKILL', killed.stderr)
      const mails = await store.read
        .selectFrom('emails')
        .leftJoin('deliveries', 'deliveries.email_id', 'emails.id')
        .select(['emails.id', ({ fn }) => fn.count<number>('deliveries.id').as('copies')])
        .select('to_list')
        .groupBy('emails.id')
        .execute()
      for (const { copies, to_list } of mails) t.equal(copies, JSON.parse(to_list).length)
      const orphans = await store.read
        .selectFrom('deliveries')
        .leftJoin('emails', 'emails.id', 'email_id')
        .select('deliveries.id')
        .where('emails.id', 'is', null)
        .execute()
      t.same(orphans, [], 'no delivery without its mail')
      t.equal(run('nothing').status, 0)
      t.equal((await log.mails()).length, 50)
      t.equal(await log.rows('deliveries'), 50)
      t.equal(await log.rows('bodies'), 20, 'equal ones once, the others gone')
      t.equal(await log.rows('contents'), 0)
      t.equal(await log.rows('content_pieces'), 0)
      const uses = await store.read.selectFrom('body_uses').select('uses').execute()
      t.equal(
        uses.reduce((sum, one) => sum + one.uses, 0),
        50,
        'each counted once',
      )
      t.same(await figures(), before)
      await store.close()
    },
  )
}
