import t from 'tap'
import {
  cachingResolver,
  type DnsAnswer,
  type Resolver,
  type StaticHost,
  staticResolver,
} from '../../src/dns/index.js'
import { FakeClock } from '../support/clock.js'
import { fakeResolver } from '../support/resolver.js'

const minuteMs = 60_000

t.test('static: a name in the table is answered from there alone', async (t) => {
  const fallback = fakeResolver({ 'a.test': { txt: ['outside'] }, 'b.test': { txt: ['outside'] } })
  const resolver = staticResolver(
    { 'A.test.': { mx: [{ preference: 10, exchange: 'MX.a.test.' }], a: ['192.0.2.1'] } },
    fallback,
  )
  t.same(await resolver.mx('a.TEST'), {
    kind: 'records',
    records: [{ preference: 10, exchange: 'mx.a.test' }],
  })
  t.same(await resolver.a('a.test.'), { kind: 'records', records: ['192.0.2.1'] })
  t.same(await resolver.txt('a.test'), { kind: 'none' }, 'not the outside record')
  t.same(await resolver.txt('b.test'), { kind: 'records', records: ['outside'] })
  t.same(await staticResolver({}).txt('b.test'), { kind: 'nxdomain' })
})

t.test('static: the closest wildcard answers for names that are not in the table', async (t) => {
  const resolver = staticResolver({
    '*': { a: ['192.0.2.1'] },
    '*.test': { a: ['192.0.2.2'] },
    'a.test': { txt: ['own'] },
  })
  const wanted: [string, DnsAnswer<string>][] = [
    ['example.org', { kind: 'records', records: ['192.0.2.1'] }],
    ['test', { kind: 'records', records: ['192.0.2.1'] }],
    ['b.test', { kind: 'records', records: ['192.0.2.2'] }],
    ['deep.in.b.test', { kind: 'records', records: ['192.0.2.2'] }],
    ['a.test', { kind: 'none' }],
  ]
  for (const [name, want] of wanted) t.same(await resolver.a(name), want, name)
})

t.test('static: failures, CNAMEs and PTR', async (t) => {
  const resolver = staticResolver(
    {
      'down.test': { fail: 'SERVFAIL' },
      'gone.test': { fail: 'nxdomain' },
      'alias.test': { cname: 'Real.test.' },
      'real.test': { txt: ['here'] },
      'out.test': { cname: 'elsewhere.test' },
      '192.0.2.1': { ptr: ['Mail.Real.test.'] },
    },
    fakeResolver({ 'elsewhere.test': { txt: ['outside'] } }),
  )
  t.same(await resolver.a('down.test'), { kind: 'failed', cause: 'SERVFAIL' })
  t.same(await resolver.a('gone.test'), { kind: 'nxdomain' })
  t.same(await resolver.txt('alias.test'), { kind: 'records', records: ['here'] })
  t.same(await resolver.cname('alias.test'), { kind: 'records', records: ['real.test'] })
  t.same(await resolver.cname('real.test'), { kind: 'none' })
  t.same(await resolver.txt('out.test'), { kind: 'records', records: ['outside'] })
  t.same(await resolver.ptr('192.0.2.1'), { kind: 'records', records: ['mail.real.test'] })
})

t.test('cache: how long an answer lives', async (t) => {
  const lives: { name: string; host: StaticHost | undefined; livesMs: number }[] = [
    { name: 'records of unknown TTL', host: { a: ['8.8.8.8'] }, livesMs: 5 * minuteMs },
    { name: 'no records', host: { txt: ['only text'] }, livesMs: 5 * minuteMs },
    { name: 'no such name', host: undefined, livesMs: 5 * minuteMs },
    { name: 'a failure', host: { fail: 'SERVFAIL' }, livesMs: 2_000 },
  ]
  for (const { name, host, livesMs } of lives) {
    const clock = new FakeClock()
    const inner = fakeResolver(host && { 'a.test': host })
    const resolver = cachingResolver(inner, clock)
    const first = await resolver.a('a.test')
    await clock.advance(livesMs - 1)
    t.same(await resolver.a('A.test.'), first, name)
    t.equal(inner.questions.length, 1, `${name}: remembered until just before`)
    await clock.advance(1)
    t.same(await resolver.a('a.test'), first)
    t.equal(inner.questions.length, 2, `${name}: asked again after ${livesMs} ms`)
  }
})

t.test('cache: what a clock that was ahead has kept is asked again when that is set back', async (t) => {
  const clock = new FakeClock()
  const inner = fakeResolver({ 'a.test': { a: ['8.8.8.8'] } })
  const resolver = cachingResolver(inner, clock)
  clock.jump(60 * 24 * 60 * minuteMs)
  await resolver.a('a.test')
  clock.setBack(60 * 24 * 60 * minuteMs)
  await resolver.a('a.test')
  t.equal(inner.questions.length, 2)
})

t.test('cache: a known TTL is brought between one minute and one hour', async (t) => {
  for (const [ttlMs, livesMs] of [
    [0, minuteMs],
    [10 * minuteMs, 10 * minuteMs],
    [86_400_000, 60 * minuteMs],
  ] as const) {
    const clock = new FakeClock()
    let asked = 0
    const inner: Resolver = {
      ...fakeResolver(),
      a: async () => {
        asked++
        return { kind: 'records', records: ['8.8.8.8'], ttlMs }
      },
    }
    const resolver = cachingResolver(inner, clock)
    await resolver.a('a.test')
    await clock.advance(livesMs - 1)
    await resolver.a('a.test')
    t.equal(asked, 1, `TTL ${ttlMs}`)
    await clock.advance(1)
    await resolver.a('a.test')
    t.equal(asked, 2, `TTL ${ttlMs}`)
  }
})

t.test('cache: the types of one name do not mix, nor do names', async (t) => {
  const inner = fakeResolver({ 'a.test': { a: ['8.8.8.8'], txt: ['text'] } })
  const resolver = cachingResolver(inner, new FakeClock())
  for (const _ of [1, 2]) {
    t.same(await resolver.a('a.test'), { kind: 'records', records: ['8.8.8.8'] })
    t.same(await resolver.txt('a.test'), { kind: 'records', records: ['text'] })
    t.same(await resolver.aaaa('a.test'), { kind: 'none' })
    t.same(await resolver.mx('b.test'), { kind: 'nxdomain' })
    t.same(await resolver.cname('a.test'), { kind: 'none' })
    t.same(await resolver.ptr('192.0.2.1'), { kind: 'nxdomain' })
  }
  t.equal(inner.questions.length, 6)
})

t.test('cache: questions at the same time share one answer, also a failed one', async (t) => {
  let asked = 0
  let answerAll: (answer: DnsAnswer<string>) => void = () => {}
  const inner: Resolver = {
    ...fakeResolver(),
    a: () => {
      asked++
      return new Promise((resolve) => {
        answerAll = resolve
      })
    },
  }
  const resolver = cachingResolver(inner, new FakeClock(), { failedMs: 0 })
  const all = Promise.all(['a.test', 'A.test', 'a.test.'].map((name) => resolver.a(name)))
  answerAll({ kind: 'failed', cause: 'SERVFAIL' })
  t.same(new Set((await all).map((answer) => answer.kind)), new Set(['failed']))
  t.equal(asked, 1)
  const again = resolver.a('a.test')
  answerAll({ kind: 'none' })
  t.same(await again, { kind: 'none' }, 'the failure was not kept')
  t.equal(asked, 2)
})

t.test('cache: when it is full the least recently used answer goes', async (t) => {
  const inner = fakeResolver()
  const resolver = cachingResolver(inner, new FakeClock(), { maxEntries: 2 })
  for (const name of ['a.test', 'b.test', 'a.test', 'c.test', 'a.test', 'b.test']) {
    await resolver.a(name)
  }
  t.same(inner.questions, ['a a.test', 'a b.test', 'a c.test', 'a b.test'])
})

t.test('cache: a huge answer is passed on but not kept', async (t) => {
  const inner = fakeResolver({ 'a.test': { txt: ['x'.repeat(20_000)] } })
  const resolver = cachingResolver(inner, new FakeClock())
  t.match(await resolver.txt('a.test'), { kind: 'records' })
  await resolver.txt('a.test')
  t.equal(inner.questions.length, 2)
})

t.test('fake: counts questions and changes its answers', async (t) => {
  const resolver = fakeResolver({ 'a.test': { a: ['8.8.8.8'] } })
  await resolver.a('a.test')
  resolver.set('a.test', { fail: 'SERVFAIL' })
  t.same(await resolver.a('a.test'), { kind: 'failed', cause: 'SERVFAIL' })
  resolver.set('a.test', undefined)
  t.same(await resolver.mx('a.test'), { kind: 'nxdomain' })
  t.equal(resolver.count('a.test'), 3)
  t.equal(resolver.count('a.test', 'a'), 2)
  t.equal(resolver.count('.test'), 0)
})
