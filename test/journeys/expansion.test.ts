import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { importContacts } from '../../src/contacts/index.js'
import { openCampaigns } from '../support/campaigns.js'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { thoroughly } from '../support/thorough.js'

// 50 of them: POSTHORN_TEST_KILLS=50 node dist/test/journeys/expansion.test.js
const kills = Number(process.env.POSTHORN_TEST_KILLS ?? thoroughly(1, 2))
const perKill = 3_000
const contacts = perKill * (kills + 2)

t.test(`kill -9 at ${kills} moments of an expansion skips nobody and doubles nobody`, async (t) => {
  const dataDir = makeTempDir(t)
  initSandbox(dataDir)
  writeFileSync(
    join(dataDir, 'posthorn.toml'),
    // Nothing leaves: the names do not exist.
    '[outbound]\nroute = "direct"\nthreads = 1\n[dns.static."mx.test"]\na = ["127.0.0.1"]\n' +
      '[http.private]\nport = 0\n[http.public]\nport = 0\nhost = "127.0.0.1"\n[inbound]\nport = 0\n',
  )
  await prepare(t, dataDir)
  let made = 0
  for (let round = 0; round < kills; round++) {
    const posthorn = await serve(t, dataDir, {})
    const enough = made + Math.random() * perKill
    const store = await openTestStore(t, { dataDir })
    const recipients = async () =>
      (await store.read.selectFrom('broadcasts').select('recipients').executeTakeFirstOrThrow())
        .recipients
    while ((await recipients()) <= enough) await new Promise((resolve) => setTimeout(resolve, 1))
    await posthorn.kill('SIGKILL')
    await store.close()
    const before = made
    made = await check(t, dataDir)
    t.ok(made > before && made < contacts, `${made} of ${contacts} mails are made`)
  }
  const posthorn = await serve(t, dataDir, {})
  const store = await openTestStore(t, { dataDir })
  const unfinished = store.read.selectFrom('broadcasts').select('id').where('expanded', '=', 0)
  while (await unfinished.executeTakeFirst())
    await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(await posthorn.kill('SIGTERM'), 0)
  t.equal(await check(t, dataDir), contacts)
})

/** A list and a campaign to it, which the next start finds. */
async function prepare(t: Test, dataDir: string): Promise<void> {
  const clock = systemClock
  const store = await openTestStore(t, { dataDir })
  const { id } = await store.read.selectFrom('accounts').select('id').executeTakeFirstOrThrow()
  const campaigns = await openCampaigns(t, { store, accountId: id, clock })
  const rows = Array.from({ length: contacts }, (_, n) => `p${n}@d${n % 50}.test\n`)
  const file = (async function* () {
    yield Buffer.from(`email\n${rows.join('')}`)
  })()
  const options = { listId: campaigns.listId, ceiling: null, file: 'x.csv', defaultCountry: 'NG' }
  await importContacts({ store, clock }, id, file, options)
  await campaigns.create({ from: 'news@example.test' })
  await store.close()
}

/** How many mails are made: each contact at most one, in the order of the cursor, and counted. */
async function check(t: Test, dataDir: string): Promise<number> {
  const store = await openTestStore(t, { dataDir })
  const { read } = store
  const broadcast = await read.selectFrom('broadcasts').selectAll().executeTakeFirstOrThrow()
  const mails = await read.selectFrom('emails').select('to_list').execute()
  const queued = await read.selectFrom('queue').select('recipient').execute()
  const ended = await read.selectFrom('deliveries').select('recipient').execute()
  const before = await read
    .selectFrom('list_members')
    .innerJoin('contacts', 'contacts.id', 'list_members.contact_id')
    .select('email')
    .where('contact_id', '<=', broadcast.cursor)
    .execute()
  await store.close()
  const expected = before.map(({ email }) => email).sort()
  t.same(mails.map(({ to_list }) => JSON.parse(to_list)[0]).sort(), expected)
  t.same([...queued, ...ended].map(({ recipient }) => recipient).sort(), expected)
  t.equal(broadcast.recipients, expected.length)
  return expected.length
}
