import Database from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/store/index.js'
import { leased, outboundRig, shapedTo } from '../support/outbound.js'
import { aboutSqlite } from '../support/postgres.js'
import { countStatements } from '../support/statements.js'

t.test(
  'mails are claimed and settled by fewer statements than there are of them',
  aboutSqlite,
  async (t) => {
    const mails = 200
    const counts = countStatements(t)
    const rig = await outboundRig(t, {
      script: { dot: 'hang' },
      shaping: shapedTo({ connections: mails }),
      config: { maxConnections: 10 * mails },
      stopped: true,
    })
    const ids: string[] = []
    for (let i = 0; i < mails; i++) ids.push(await rig.send({ to: `a${i}@d${i % 5}.test` }))
    counts.clear()
    await rig.start()
    await rig.mx.waitUntil(() => rig.mx.unaccepted.length === mails, 60_000)
    // As on a machine that has more to do: what ends meanwhile is written together.
    const other = new Database(databaseFile(rig.dataDir))
    other.exec('begin immediate')
    await rig.mx.interject('250 2.0.0 taken')
    await new Promise((resolve) => setTimeout(resolve, 500))
    other.exec('rollback')
    other.close()
    await rig.eventually(() => rig.backlog.size === 0)
    // Each is composed when its connection is there: how many in a turn of the event loop is chance.
    const isLeftOut = (source: string) =>
      source.includes('"bodies"."html"') || /^(begin|savepoint|release|commit)\b/.test(source)
    const counted = [...counts].filter(([source]) => !isLeftOut(source))
    const sum = counted.reduce((all, [, times]) => all + times, 0)
    const most = counted.sort(([, a], [, b]) => b - a).slice(0, 5)
    t.ok(sum > 0, 'they are seen')
    t.ok(sum <= mails, `${sum} statements: ${JSON.stringify(most)}`)
    for (const id of ids) t.equal((await rig.email(id)).status, 'delivered')
  },
)

// One that waits for a server's answer to each has them come one after the other.
t.test('mail that comes one by one is claimed and settled together', aboutSqlite, async (t) => {
  const mails = 100
  const counts = countStatements(t)
  const rig = await outboundRig(t, {
    script: { dot: () => ({ reply: '250 2.0.0 taken', delayMs: 200 }) },
    shaping: shapedTo({ connections: mails }),
    config: { maxConnections: 10 * mails },
  })
  for (let i = 0; i < mails; i++) {
    await rig.send({ to: `a${i}@d${i % 50}.test` })
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await rig.eventually(() => rig.backlog.size === 0)
  const times = (begin: RegExp) => {
    const those = [...counts].filter(([source]) => begin.test(source))
    t.not(those.length, 0, `${begin} is seen`)
    return those.reduce((all, [, times]) => all + times, 0)
  }
  t.ok(times(/^update "queue"/) < mails / 2, 'claims')
  t.ok(times(/^delete from "queue"/) < mails / 2, 'settlements')
})

t.test('what waits for a connection of its source is given back together', async (t) => {
  const counts = countStatements(t)
  const sources = [10, 11].map((last) => ({
    addresses: [`127.0.0.${last}`],
    heloName: 'out.test',
    weight: 1,
  }))
  const rig = await outboundRig(t, {
    script: { dot: 'hang' },
    shaping: shapedTo({ connections: 10 }),
    config: { pools: { p: { sources, classes: ['transactional'], accounts: [] } } },
    stopped: true,
  })
  for (let i = 0; i < 40; i++) await rig.send({ to: `a${i}@one.test` })
  // As if all had been put off from the first source.
  await rig.store.write((tx) => tx.updateTable('queue').set({ source: '127.0.0.10' }).execute())
  counts.clear()
  await rig.start()
  await rig.mx.waitUntil(() => rig.mx.unaccepted.length === 10)
  await rig.eventually(async () => (await leased(rig)) === 10)
  t.same([...new Set(rig.mx.sessions.map(({ remoteAddress }) => remoteAddress))], ['127.0.0.10'])
  const givenBack = [...counts].filter(([source]) =>
    /^update "queue" set "lease".* and "lease" = (?:\?|\$\d+)$/.test(source),
  )
  const times = givenBack.reduce((sum, [, count]) => sum + count, 0)
  t.ok(times > 0 && times <= 10, `${times} statements for 30 deliveries`)
})
