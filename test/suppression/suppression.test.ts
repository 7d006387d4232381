import { Readable } from 'node:stream'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { idsIn } from '../../src/store/index.js'
import {
  exportSuppressions,
  importSuppressions,
  type LineFault,
  lift,
  listSuppressions,
  type NewSuppression,
  suppress,
  suppressedAmong,
  suppressionsOf,
} from '../../src/suppression/index.js'
import { FakeClock } from '../support/clock.js'
import { aboutSqlite } from '../support/postgres.js'
import { openTestStore } from '../support/store.js'

async function open(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  return {
    store,
    clock,
    read: store.read,
    add: (given: NewSuppression, account = 'a') =>
      store.write((tx) => suppress(tx, account, given, clock.now())),
    lift: (email: string, reasons?: NewSuppression['reason'][]) =>
      store.write((tx) =>
        lift(tx, 'a', email, { by: 'operator', at: 1, ...(reasons && { reasons }) }),
      ),
    of: (email: string, account = 'a') => suppressionsOf(store.read, account, email),
    among: async (addresses: string[], type: 'transactional' | 'marketing', account = 'a') => [
      ...(await suppressedAmong(store.read, account, addresses, type)),
    ],
    async load(content: string | Buffer | string[], reason: NewSuppression['reason'] = 'manual') {
      const faults: LineFault[] = []
      const chunks = typeof content === 'string' ? [Buffer.from(content)] : content
      const input = Readable.from(chunks, { objectMode: false })
      const options = { reason, onFault: (fault: LineFault) => faults.push(fault) }
      const counts = await importSuppressions({ store, clock }, 'a', input, options)
      return {
        ...counts,
        lines: faults.map(({ line }) => line),
        faults: faults.map((f) => f.fault),
      }
    },
    async exported(account = 'a') {
      let csv = ''
      for await (const part of exportSuppressions(store.read, account)) csv += part
      return csv
    },
  }
}

t.test(
  'bounces, complaints and operators block everything, an unsubscribe marketing',
  async (t) => {
    const list = await open(t)
    for (const reason of ['bounce', 'complaint', 'manual', 'unsubscribe'] as const) {
      t.equal(await list.add({ email: `${reason}@x.test`, reason }), true)
    }
    await list.add({ email: 'quiet@x.test', reason: 'manual', scope: 'marketing' })
    const all = ['bounce', 'complaint', 'manual', 'unsubscribe', 'quiet', 'free'].map(
      (name) => `${name}@x.test`,
    )
    t.same(await list.among(all, 'transactional'), all.slice(0, 3))
    t.same(await list.among(all, 'marketing'), all.slice(0, 5))
    t.same(await list.among(all, 'marketing', 'b'), [], 'of another account')
    t.same(await list.among([], 'marketing'), [])
  },
)

t.test('an address counts as a whole in lower case, and is named as it was given', async (t) => {
  const list = await open(t)
  await list.add({ email: 'Ada.L@Example.TEST', reason: 'bounce', detail: '550 5.1.1' })
  t.same(await list.of('ADA.l@example.test'), [
    {
      email: 'ada.l@example.test',
      reason: 'bounce',
      scope: 'all',
      emailId: null,
      detail: '550 5.1.1',
      createdAt: list.clock.now(),
      expiresAt: null,
    },
  ])
  const given = ['aDa.L@example.test', 'ada.l@example.test', 'adaxl@example.test', '%', "x' or 1=1"]
  t.same(await list.among(given, 'transactional'), given.slice(0, 2))
})

t.test('the same again changes nothing, more makes it stronger, less never weaker', async (t) => {
  const list = await open(t)
  const email = 'ada@x.test'
  const first = { email, reason: 'manual', scope: 'marketing', detail: 'asked by phone' } as const
  t.equal(await list.add(first), true)
  const at = list.clock.now()
  await list.clock.advance(1_000)
  t.equal(await list.add({ email, reason: 'manual', scope: 'marketing' }), false)
  t.match(await list.of(email), [{ ...first, createdAt: at }])
  t.equal(await list.add({ email, reason: 'manual', scope: 'all' }), true)
  t.match(await list.of(email), [{ ...first, scope: 'all', createdAt: at }], 'but the scope')
  t.equal(await list.add(first), false)
  t.match(await list.of(email), [{ scope: 'all' }])
})

t.test('lifting one reason leaves the others', async (t) => {
  const list = await open(t)
  const email = 'ada@x.test'
  await list.add({ email, reason: 'unsubscribe' })
  await list.add({ email, reason: 'bounce' })
  await list.add({ email, reason: 'complaint' })
  await list.add({ email, reason: 'bounce' }, 'b')
  t.equal(await list.lift('ADA@x.test', ['bounce', 'complaint']), 2)
  t.match(await list.of(email), [{ reason: 'unsubscribe' }])
  t.same(await list.among([email], 'transactional'), [])
  t.same(await list.among([email], 'marketing'), [email], 'whoever unsubscribed stays so')
  t.equal(await list.lift(email), 1)
  t.equal(await list.lift(email), 0)
  t.equal((await list.of(email, 'b')).length, 1, 'of another account')
})

t.test('many addresses at once', async (t) => {
  const list = await open(t)
  const every = Array.from({ length: 2_500 }, (_, n) => `n${n}@x.test`)
  await list.store.write(async (tx) => {
    for (const email of every.filter((_, n) => n % 7 === 0)) {
      await suppress(tx, 'a', { email, reason: 'bounce' }, 0)
    }
  })
  const blocked = await list.among(every, 'transactional')
  t.same(
    blocked,
    every.filter((_, n) => n % 7 === 0),
  )
  const pages: string[] = []
  for (let after: { email: string; reason: 'bounce' } | undefined; ; ) {
    const page = await listSuppressions(list.read, 'a', { after, limit: 100 })
    const last = page.at(-1)
    if (last === undefined) break
    pages.push(...page.map(({ email }) => email))
    after = { email: last.email, reason: 'bounce' }
  }
  t.same(pages, [...blocked].sort(), 'page by page, each once')
})

t.test('one query for a send finds its way by the key', aboutSqlite, async (t) => {
  const { read } = await open(t)
  const { rows } = await sql<{ detail: string }>`explain query plan
    select address from suppressions
    where account_id = 'a' and address in ${idsIn(['x', 'y'], 'text')} and scope = 'all'`.execute(
    read,
  )
  t.match(rows[0]?.detail, /^SEARCH .* USING INDEX .*\(account_id=\? AND address=\?\)/)
})

t.test('a plain list is taken in, whatever its line ends', async (t) => {
  for (const eol of ['\n', '\r\n', '\r']) {
    const list = await open(t)
    const content = ['\ufeffada@x.test', '', 'Bob@X.Test ', '"a b"@x.test', 'Zoe <zoe@x.test>', '']
    t.same(await list.load(content.join(eol)), { added: 4, known: 0, faults: [], lines: [] })
    t.match(await list.of('bob@x.test'), [{ reason: 'manual', scope: 'all', detail: null }])
    t.equal((await list.of('"a b"@x.test')).length, 1)
    t.match(await list.load(content.join(eol), 'bounce'), { added: 4 }, 'another reason')
    t.match(await list.load(content.join(eol)), { added: 0, known: 4 }, 'the same again')
  }
})

t.test('a CSV is read by its header, and what is wrong is told line by line', async (t) => {
  const list = await open(t)
  const result = await list.load(
    [
      'Name;E-Mail;Reason;Scope;created_at;detail',
      'Ada;ada@x.test;Bounced;;2026-01-02T03:04:05Z;"said ""no""\nand hung up"',
      'Bob;bob@x.test;hate;;;',
      'Eve;no address;;;;',
      'Zoe;zoe@x.test;unsubscribe;everything;;',
      'Joe;joe@x.test;;marketing;yesterday;',
      'Kim;kim@x.test;;;2999-01-01;',
      'Lea',
    ].join('\n'),
    'complaint',
  )
  t.match(result, { added: 2, known: 0, lines: [4, 5, 6, 7, 9] })
  t.match(result.faults, [
    '"hate" is not a reason: expected one of unsubscribe, bounce, complaint, manual',
    '"no address" is not an email address',
    '"everything" is not a scope: expected all or marketing',
    '"yesterday" is not a time: expected ISO 8601',
    '"" is not an email address',
  ])
  t.match(await list.of('ada@x.test'), [
    {
      reason: 'bounce',
      detail: 'said "no"\nand hung up',
      createdAt: Date.UTC(2026, 0, 2, 3, 4, 5),
    },
  ])
  t.match(await list.of('kim@x.test'), [{ reason: 'complaint', createdAt: list.clock.now() }])
})

t.test('a file that breaks off is told, and what came before is in', async (t) => {
  const cases = [
    ['ada@x.test\nbob@x.test,"never closed\nzoe@x.test\n', 2],
    [`ada@x.test\nbob@x.test\n${'x'.repeat(200_000)}\nzoe@x.test\n`, 3],
  ] as const
  for (const [content, line] of cases) {
    const list = await open(t)
    const result = await list.load(content)
    t.match(result, {
      lines: [line],
      faults: [/^a quote is not closed, or a line .* the rest was not read$/],
    })
    t.equal(result.added, line - 1)
    t.equal((await list.of('ada@x.test')).length, 1)
    t.equal((await list.of('zoe@x.test')).length, 0)
  }
  const list = await open(t)
  const broken = new Readable({
    read() {
      this.destroy(new Error('the disk is gone'))
    },
  })
  const options = { reason: 'manual', onFault: () => {} } as const
  await t.rejects(importSuppressions(list, 'a', broken, options), { message: 'the disk is gone' })
})

t.test('garbage of any kind ends, and records nothing that is no address', async (t) => {
  const list = await open(t)
  t.match(await list.load(''), { added: 0, faults: [] })
  t.match(await list.load('email,reason\n'), { added: 0, faults: [] })
  t.match(await list.load(Buffer.from([0xff, 0xfe, 0x41, 0x00, 0x0a, 0x00]).toString('latin1')), {
    added: 0,
  })
  t.match(await list.load('a\0@x.test\nx@y@z.test\n<script>@x.test\n@\n,,,\n'), {
    added: 0,
    lines: [1, 2, 3, 4, 5],
  })
  t.equal(await list.exported(), 'email,reason,scope,emailId,detail,createdAt,expiresAt\r\n')
})

t.test('an export taken back elsewhere is the same list', async (t) => {
  const list = await open(t)
  const emailId = '019a9b10-0000-7000-8000-00000000abcd'
  await list.add({ email: 'ada@x.test', reason: 'bounce', emailId, detail: '550, "no"\r\n5.1.1 ' })
  await list.add({ email: '"a;b, c"@x.test', reason: 'unsubscribe' })
  const expiresAt = Date.UTC(2026, 11, 21)
  await list.add({ email: 'full@x.test', reason: 'bounce', expiresAt })
  await list.add({ email: 'ada@x.test', reason: 'manual', scope: 'marketing', detail: '=1+1' })
  await list.add({ email: 'quoted@x.test', reason: 'manual', detail: "'@a" })
  await list.add({ email: 'other@x.test', reason: 'bounce' }, 'b')
  for (let n = 0; n < 450; n++) await list.add({ email: `n${n}@x.test`, reason: 'complaint' })
  const csv = await list.exported()
  t.match(
    csv,
    /^email,reason,scope,emailId,detail,createdAt,expiresAt\r\n"""a;b, c""@x\.test",unsub/,
  )
  t.match(
    csv,
    `ada@x.test,bounce,all,${emailId},"550, ""no""\r\n5.1.1 ",2026-11-21T12:00:00.000Z,\r\n`,
  )
  t.match(csv, 'full@x.test,bounce,all,,,2026-11-21T12:00:00.000Z,2026-12-21T00:00:00.000Z\r\n')
  t.notMatch(csv, /other/)
  t.match(csv, `ada@x.test,manual,marketing,,"'=1+1",`, 'no cell is a formula')
  t.match(csv, `"''@a"`, 'nor one less than it was')

  const copy = await open(t)
  await copy.clock.advance(5_000)
  // In pieces that end anywhere.
  const pieces = csv.match(/[\s\S]{1,37}/g) ?? []
  t.same(await copy.load(pieces), { added: 455, known: 0, faults: [], lines: [] })
  t.equal(await copy.exported(), csv.replace('5.1.1 "', '5.1.1"'))
})

t.test('a list of what is no address ends soon, and holds nobody up', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  let turns = 0
  let isDone = false
  const turn = () => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  turn()
  const lines: string[] = []
  const options = {
    reason: 'manual' as const,
    isTrial: true,
    onFault: ({ fault }: { fault: string }) => lines.push(fault),
  }
  const piece = Buffer.from('a\n'.repeat(5_000))
  const input = Readable.from(Array.from({ length: 40 }, () => piece))
  const { faults } = await importSuppressions({ store, clock }, 'a', input, options)
  isDone = true
  t.equal(faults, 100_001)
  t.match(lines.at(-1), /what follows was left out/)
  t.ok(turns > 150, `${turns} turns of the event loop`)
})
