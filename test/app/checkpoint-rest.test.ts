import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lookForCheckpointWork } from '../../src/app/checkpoint-work.js'
import { enterNext } from '../../src/emails/recipient-index.js'
import { rollUp } from '../../src/stats/index.js'
import { databaseFile, makeTurns } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { eventually } from '../support/eventually.js'
import { openHappenings } from '../support/log-happenings.js'
import { aboutSqlite } from '../support/postgres.js'
import { startPosthorn } from '../support/posthorn.js'
import { makeTempDir, openTestStore } from '../support/store.js'

// It waits for two censuses, twice.
t.setTimeout(120_000)

t.test(
  'the thread ends when nobody writes, and is there again when somebody does',
  aboutSqlite,
  async (t) => {
    const clock = new FakeClock(Date.now())
    const posthorn = await startPosthorn(t, { clock })
    const isThere = async () => {
      const text = await (await fetch(`${posthorn.url}/metrics`)).text()
      return text.includes('posthorn_thread_lag_seconds{thread="checkpoint"}')
    }
    const filesOf = (name: string) =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(join('/proc/self/fd', fd)) === name
        } catch {
          // It was that of this very look.
          return false
        }
      }).length
    const passes = async (isSo: () => Promise<boolean>) => {
      await eventually(async () => {
        await clock.advance(1_000)
        return isSo()
      }, 60_000)
    }
    await passes(isThere)
    await passes(async () => !(await isThere()))
    const files = filesOf(databaseFile(posthorn.dataDir))
    // A minute of signs that the appliance is alive.
    for (let i = 0; i < 60; i++) await clock.advance(1_000)
    t.notOk(await isThere())
    // Files that have become bad since the start end nothing.
    for (const name of ['plans.toml', 'tracking-agents.toml'])
      writeFileSync(join(posthorn.dataDir, name), '[[agents]]\nname = "half wri')
    await posthorn.addAccount('Other')
    await passes(isThere)
    await passes(async () => !(await isThere()))
    t.equal(filesOf(databaseFile(posthorn.dataDir)), files, 'none of its files stays behind')
    const text = await (await fetch(`${posthorn.url}/metrics`)).text()
    t.match(text, /posthorn_queue_deliveries\{class="transactional"\} 0\n/, 'its figures stay')
  },
)

t.test('it has work while anybody writes, and until all is entered and counted', async (t) => {
  const clock = new FakeClock()
  const [dataDir, turns] = [makeTempDir(t), makeTurns()]
  const store = await openTestStore(t, { clock, dataDir, turns })
  const thread = await openTestStore(t, { clock, dataDir, turns, slot: 16 })
  const command = await openTestStore(t, { clock, dataDir })
  const backlog = { outOfRoom: false, counts: 0 }
  const hasWork = lookForCheckpointWork({ store, clock, backlog })
  const after = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      await clock.advance(1_000)
      backlog.counts++
      await store.write((tx) => tx.updateTable('appliance').set({ alive_at: passed }).execute())
      await hasWork()
    }
    return hasWork()
  }
  const name = (by: typeof store, id: string) =>
    by.write((tx) => tx.insertInto('accounts').values({ id, name: id, created_at: 0 }).execute())

  t.equal(await hasWork(), true)
  t.equal(await after(60_000), false, 'that it is alive is no work')
  await store.write((tx) => tx.deleteFrom('accounts').execute())
  t.equal(await hasWork(), false, 'nor is what changes nothing')
  await name(thread, 'a')
  t.equal(await hasWork(), true, 'another thread has written')
  t.equal(await after(60_000), false)
  await name(command, 'b')
  t.equal(await hasWork(), true, 'another process has')
  t.equal(await after(60_000), false)

  const logged = openHappenings({ store, clock })
  const accountId = await logged.account('Shop', 'shop.test')
  await logged.accept([
    {
      id: store.ids.uuid(),
      accountId,
      domain: 'shop.test',
      type: 'transactional',
      broadcastId: null,
      tags: [],
      createdAt: clock.now(),
      copies: [],
    },
  ])
  t.equal(await after(70_000), true, 'there is mail to enter, and something to count')
  while ((await enterNext({ store, clock })) > 0);
  t.equal(await after(60_000), true)
  while (await rollUp(store));
  t.equal(await after(60_000), false)

  backlog.outOfRoom = true
  t.equal(await hasWork(), true, 'the log is to be cut off')
  backlog.outOfRoom = false
  t.equal(await after(60_000), false)
  let worked = 0
  for (let second = 0; second < 4_000; second++) {
    await clock.advance(1_000)
    backlog.counts++
    if (await hasWork()) worked++
  }
  t.ok(worked > 0 && worked < 100, `${worked} seconds of an hour, for the signs of life in the log`)
})
