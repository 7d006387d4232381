// Issue 46: releases beside each other over one PostgreSQL, and the way back until what the older needs is taken away.
import type { Migration } from 'kysely'
import t from 'tap'
import {
  contractStore,
  migrateStore,
  ownSteps,
  type Steps,
  schemaState,
} from '../../src/store/migrate.js'
import { becomes, mailsTo, nodesRig } from '../support/nodes.js'
import { databaseOf, noPostgres, startPostgres } from '../support/postgres.js'
import { makeTempDir } from '../support/store.js'

const skip = noPostgres ?? false

t.test('a node whose database the next release has added to', { skip }, async (t) => {
  const rig = await nodesRig(t)
  const { ask, mx, send, start } = rig
  let first = await start('mail1')
  t.equal((await send(first, mailsTo('before', 4))).status, 200)
  await mx.waitForMessages(4, 20_000)
  const become = (name: string, contracted = '') =>
    ask(`insert into kysely_migration (name, timestamp) values ('${name}', 'then');
      insert into releases (version, migration, contracted) values ('9.0.0', '${name}', '${contracted}')`)

  await t.test('works on beside it, in the middle of its mail', async (t) => {
    // Each table of which it has asked for all columns, on connections that stay.
    for (const { table } of await ask<{ table: string }>(
      "select table_name as table from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like 'kysely%'",
    ))
      await ask(`alter table "${table}" add column of_tomorrow text`)
    await become('9001-next')
    t.equal((await send(first, mailsTo('beside', 8))).status, 200)
    await mx.waitForMessages(12, 20_000)
    const read = await fetch(`${first.url}/v1/emails`, {
      headers: { authorization: `Bearer ${rig.apiKey}` },
    })
    t.equal(read.status, 200)
    t.match((await rig.run('mail1', ['node', 'list'])).stdout, /mail1 +1 +up/)
    await becomes(
      () => ask<{ n: number }>('select count(*)::int as n from queue'),
      ([row]) => row?.n === 0,
      10_000,
    )
    t.notMatch(first.log(), /cached plan|"level":"error"/)
  })

  await t.test('starts again on it: going back is one upgrade', async (t) => {
    await first.kill('SIGTERM')
    first = await start('mail1')
    t.equal((await send(first, mailsTo('back', 2))).status, 200)
    await mx.waitForMessages(14, 20_000)
    const twice = mx.messages.length - new Set(mx.messages.flatMap(({ to }) => to)).size
    t.equal(twice, 0)
    t.match(await rig.run('mail1', ['database', 'contract', '--yes']), {
      status: 0,
      stdout: /There is nothing to take away/,
    })
  })

  await t.test('does not start two schemas behind, nor where what it needs is gone', async (t) => {
    await become('9002-after')
    const refused = await rig.run('mail2', ['serve', '--json'])
    t.equal(refused.status, 78, refused.stderr)
    t.match(refused.stderr, /is two schemas behind/)
    await ask(
      "delete from kysely_migration where name = '9002-after'; delete from releases where migration = '9002-after'",
    )
    await ask("update releases set contracted = '9001-next' where migration = '9001-next'")
    const gone = await rig.run('mail2', ['serve', '--json'])
    t.equal(gone.status, 78, gone.stderr)
    t.match(gone.stderr, /since 'posthorn database contract' was run/)
    t.match((await rig.run('mail2', ['queue', 'summary'])).stderr, /which is newer/)
  })

  await t.test('is not brought up to date over one that would not understand it', async (t) => {
    await ask("delete from kysely_migration where name >= '0246'")
    await ask("update nodes set schema = ''")
    const refused = await rig.run('mail2', ['serve', '--json'])
    t.equal(refused.status, 1)
    t.match(refused.stderr, /mail1 \([\d.]+\) would not understand it/)
  })
})

t.test('a release adds at its start, and takes away when it is told to', { skip }, async (t) => {
  const server = await startPostgres(t)
  const dataDir = makeTempDir(t)
  const place = { dataDir, url: await databaseOf(dataDir, server.url) }
  const adding: Migration = {
    up: ({ schema }) => schema.alterTable('topics').addColumn('added', 'text').execute(),
  }
  const taking: Migration = {
    up: ({ schema }) => schema.alterTable('topics').dropColumn('added').execute(),
  }
  const own = ownSteps
  const next: Steps = {
    migrations: { ...own.migrations, '9001-add': adding, '9002-take': taking },
    contracting: new Set(['9002-take']),
  }
  t.match(await schemaState(place, next), { kind: 'older', contractsFirst: [] })
  await migrateStore(place, undefined, next)
  t.match(await schemaState(place, next), { kind: 'same', uncontracted: ['9002-take'] })
  t.match(await schemaState(place), { kind: 'ahead' }, 'the release before may be there')
  await migrateStore(place, undefined, next)
  await migrateStore(place)
  t.match(await schemaState(place, next), { uncontracted: ['9002-take'] })
  const after: Steps = {
    migrations: { ...next.migrations, '9003-more': { up: async () => {} } },
    contracting: next.contracting,
  }
  t.match(await schemaState(place, after), { kind: 'older', contractsFirst: ['9002-take'] })
  await contractStore(place, next)
  t.match(await schemaState(place, next), { kind: 'same', uncontracted: [] })
  t.match(await schemaState(place), { kind: 'newer' })
  await t.rejects(migrateStore(place), /since 'posthorn database contract' was run/)
  const file = { dataDir: makeTempDir(t) }
  await migrateStore(file, undefined, next)
  t.match(await schemaState(file, next), { kind: 'same', uncontracted: [] }, 'one appliance alone')
  t.match(await schemaState(file), { kind: 'newer' })
})
