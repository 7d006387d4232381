import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { databaseSettings } from '../support/postgres.js'
import { openPlace } from './place.js'
import { outcomeOf, startCli } from './run.js'

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('addresses are suppressed, shown and taken off again', async (t) => {
  const { run, json, refused } = await openPlace(t)
  await json('account', 'create', 'City')
  t.match((await run('suppression', 'list')).stdout, /^No address is suppressed\n$/)
  const list = ['suppression', 'list']
  const added = await json('suppression', 'add', 'Ada@X.test', 'bob@x.test', '--detail', 'by phone')
  const both = { reason: 'manual', scope: 'all', detail: 'by phone', emailId: null }
  t.match(added, [
    { email: 'ada@x.test', ...both },
    { email: 'bob@x.test', ...both },
  ])
  const again = await run('suppression', 'add', 'ada@x.test')
  t.equal(again.stdout, 'ada@x.test was suppressed (manual)\n')
  await json('suppression', 'add', 'ada@x.test', '--reason', 'unsubscribe')
  t.match(await json(...list, 'ADA@x.test'), {
    email: 'ada@x.test',
    blocks: 'all',
    suppressions: [
      { email: 'ada@x.test', reason: 'manual', scope: 'all', detail: 'by phone' },
      { email: 'ada@x.test', reason: 'unsubscribe', scope: 'marketing', createdAt: /Z$/ },
    ],
    history: [{ kind: 'suppressed' }, { kind: 'unsubscribed' }],
  })
  t.match(await json(...list, '--reason', 'unsubscribe'), {
    suppressions: [{ reason: 'unsubscribe' }],
    hasMore: false,
    nextCursor: null,
  })
  const two = await run(...list, '--limit', '2')
  t.match(two, { stderr: /^There are more: --limit/ })
  t.equal(two.stdout.split('\n').length, 4)

  await refused(
    /bob@x\.test is not suppressed for unsubscribe; nothing was changed/,
    'suppression',
    'remove',
    'ada@x.test',
    'bob@x.test',
    '--reason',
    'unsubscribe',
  )
  const { suppressions } = await json<{ suppressions: unknown[] }>(...list, 'ada@x.test')
  t.equal(suppressions.length, 2, 'nor was she')
  const message = 'The address may be mailed again'
  t.same(await json('suppression', 'remove', 'ada@x.test', '--reason', 'manual'), [
    { email: 'ada@x.test', removed: 1, message },
  ])
  t.match(await json(...list, 'ada@x.test'), { suppressions: [{ reason: 'unsubscribe' }] })
  await json('suppression', 'remove', 'ada@x.test', 'bob@x.test')
  t.same(await json(...list), { suppressions: [], hasMore: false, nextCursor: null })
  await refused(/"nonsense" is not an email address/, 'suppression', 'add', 'nonsense')
  await refused(
    /detail: .*at most 1,000/,
    'suppression',
    'add',
    'a@x.test',
    '--detail',
    'x'.repeat(1_001),
  )
  t.match(await run('suppression', 'add', 'a@x.test', '--reason', 'hate'), { status: 2 })
})

t.test('a list goes out of one account and into another', async (t) => {
  const { run, json, refused, data } = await openPlace(t)
  await json('account', 'create', 'City')
  await json('account', 'create', 'Shop')
  const file = join(data, 'list.csv')
  writeFileSync(file, 'email,detail\nada@x.test,one\nno address,two\n"bob@x.test","a, b"\n')
  await refused(/several accounts; choose one by --account/, 'suppression', 'import', file)
  const city = ['--account', 'City']
  const imported = await run('suppression', 'import', file, '--reason', 'bounce', ...city)
  t.match(imported, {
    status: 1,
    stdout: '2 added, 0 known already, 1 line left out\n',
    stderr: 'warning: line 3: "no address" is not an email address\n',
  })
  writeFileSync(file, Buffer.from('email\nevil\x1b[2J\x07@x.test\nm\xfcller@x.test\n', 'latin1'))
  t.match(await run('suppression', 'import', file, ...city), {
    status: 1,
    stdout: '0 added, 0 known already, 2 lines left out\n',
    stderr:
      'warning: line 2: "evil\\u001b[2J\\u0007@x.test" is not an email address\nwarning: line 3: the line is not UTF-8\n',
  })
  await refused(
    /"evil\\u001b\[2J\\u0007" is not an email address/,
    'suppression',
    'add',
    'evil\x1b[2J\x07',
    ...city,
  )
  const { stdout: csv, status } = await run('suppression', 'export', ...city)
  t.equal(status, 0)
  t.match(
    csv,
    /^email,reason,scope,emailId,detail,createdAt,expiresAt\r\nada@x\.test,bounce,all,,one,/,
  )
  const child = startCli(['suppression', 'import', '-', '--account', 'Shop', '--json'], {
    env: { POSTHORN_DATA: data, ...databaseSettings(data) },
    stdin: csv,
  })
  const piped = await outcomeOf(child)
  t.same(JSON.parse(piped.stdout), { added: 2, known: 0, refused: [], faults: 0 })
  t.equal((await run('suppression', 'export', '--account', 'Shop')).stdout, csv)
  await refused(/ENOENT.*nowhere\.csv/, 'suppression', 'import', 'nowhere.csv', ...city)
})
