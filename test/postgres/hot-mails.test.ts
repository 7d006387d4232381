import pg from 'pg'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { type EmailStatus, makeTurns, migrateStore, openStore } from '../../src/store/index.js'
import { databaseOf, noPostgres, startPostgres } from '../support/postgres.js'
import { makeTempDir } from '../support/store.js'

const skip = noPostgres ?? false

async function open(t: Test) {
  const server = await startPostgres(t)
  const dataDir = makeTempDir(t)
  const url = await databaseOf(dataDir, server.url)
  const store = await openStore({ dataDir, url, clock: systemClock, turns: makeTurns(), slot: 0 })
  t.teardown(() => store.close())
  const raw = new pg.Client(url)
  await raw.connect()
  t.teardown(() => raw.end())
  const { write } = store
  const mail = (id: string, status: EmailStatus) => ({
    id,
    account_id: 'a',
    domain_id: 'd',
    from_header: 'a@sender.test',
    to_list: '[]',
    subject: 'Hello',
    type: 'transactional' as const,
    status,
    message_id: id,
    waiting: 1,
    provider: 'primary' as const,
    delivered: 0,
    bounced: 0,
    failed: 0,
    created_at: 1,
  })
  return {
    dataDir,
    url,
    raw,
    add: (id: string, status: EmailStatus) =>
      write((tx) => tx.insertInto('emails').values(mail(id, status)).execute()),
    become: (id: string, status: EmailStatus) =>
      write((tx) => tx.updateTable('emails').set({ status }).where('id', '=', id).execute()),
    rows: async (sql: string) => (await raw.query({ text: sql, rowMode: 'array' })).rows,
  }
}

t.test('no index hears of a mail that goes well', { skip }, async (t) => {
  const { add, become, raw, rows } = await open(t)
  const hot = async () => {
    // Sessions tell of what they did when they have nothing else to do, and each second at most.
    await raw.query('select pg_stat_clear_snapshot()')
    const [row] = await rows(
      "select n_tup_upd::int, n_tup_hot_upd::int from pg_stat_user_tables where relname = 'emails'",
    )
    return row
  }
  await add('m1', 'queued')
  await become('m1', 'sending')
  await become('m1', 'delivered')
  await add('m2', 'scheduled')
  await become('m2', 'sending')
  await become('m2', 'bounced')
  const until = Date.now() + 20_000
  let found = await hot()
  while (found?.[0] < 4 && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    await become('none', 'sending')
    found = await hot()
  }
  t.same(found, [4, 2], 'those of the first mail, and of the other none')
})

t.test('mails are found by what few of them are', { skip }, async (t) => {
  const { add, become, raw, rows } = await open(t)
  await add('m1', 'scheduled')
  await add('m2', 'sending')
  await become('m2', 'bounced')
  await add('m3', 'delivered')
  t.same(await rows('select id, rare_status from emails order by id'), [
    ['m1', 'scheduled'],
    ['m2', 'bounced'],
    ['m3', null],
  ])
  await become('m1', 'sending')
  t.same(await rows("select rare_status from emails where id = 'm1'"), [[null]])
  await raw.query('set enable_seqscan = off')
  const planOf = async (where: string) =>
    (
      await rows(
        `explain select id from emails where account_id = 'a' and ${where} order by id desc`,
      )
    )
      .flat()
      .join('\n')
  const isRare = "rare_status in ('bounced', 'failed', 'cancelled', 'suppressed')"
  const rare = await planOf(`${isRare} and rare_status = 'bounced'`)
  t.match(rare, /emails_rare/)
  t.match(await planOf("rare_status = 'scheduled'"), /emails_scheduled_account/)
})

t.test('a database of before gets the column once', { skip }, async (t) => {
  const { add, raw, rows, url, dataDir } = await open(t)
  await add('m1', 'failed')
  await raw.query(`alter table emails drop column rare_status;
    create index emails_scheduled on emails (scheduled_at, id) where status = 'scheduled';
    create index emails_rare on emails (account_id, status, id) where status = 'failed';
    create index emails_scheduled_account on emails (account_id, id) where status = 'scheduled'`)
  for (let start = 0; start < 2; start++) await migrateStore({ dataDir, url })
  t.same(await rows('select rare_status from emails'), [['failed']])
  const indexes = await rows(
    "select indexname from pg_indexes where tablename = 'emails' and indexdef ~ 'rare_status' order by 1",
  )
  t.same(indexes.flat(), ['emails_rare', 'emails_scheduled', 'emails_scheduled_account'])
})
