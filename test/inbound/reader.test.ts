import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { packageFile } from '../../src/config/index.js'
import { makeReader, type ReadOutcome } from '../../src/inbound/reader.js'
import { silentLog } from '../../src/log/index.js'
import { type FeedbackLoop, loadBounceRules } from '../../src/reports/index.js'
import { fakeResolver } from '../support/resolver.js'

const hostile = new URL('../support/hostile-reading.js', import.meta.url)

function open(t: { teardown(close: () => unknown): void }, entry?: URL) {
  const bounceRules = loadBounceRules([packageFile('config/bounce-rules.toml')])
  let feedbackLoops: FeedbackLoop[] = []
  const reader = makeReader({
    clock: systemClock,
    log: silentLog,
    resolver: fakeResolver(),
    judging: () => ({ bounceRules, feedbackLoops }),
    ...(entry === undefined ? {} : { entry }),
  })
  t.teardown(() => reader.close())
  return {
    reader,
    read: (...mails: string[]) => reader.read(mails.map((mail) => arrived(Buffer.from(mail)))),
    setLoops(names: string[]) {
      feedbackLoops = names.map((name) => ({ name, domains: [], senders: [], networks: [] }))
    },
  }
}

const arrived = (raw: Buffer) => ({
  raw,
  envelope: { remoteAddress: '192.0.2.1', mailFrom: '', helo: 'client.test' },
})

const kinds = (outcomes: readonly ReadOutcome[]) => outcomes.map(({ kind }) => kind)

t.test('a mail that hangs, eats memory or kills its thread harms no other', async (t) => {
  const { read } = open(t, hostile)
  for (const [does, why] of [
    ['hang', /^it takes too long$/],
    ['eat', /memory limit/],
    ['die', /^the thread has ended$/],
    ['throw', /^a bug$/],
  ] as const) {
    const outcomes = await read('a', 'b', does, 'c', 'd')
    t.same(kinds(outcomes), ['read', 'read', 'broken off', 'not reached', 'not reached'], does)
    const [, , guilty] = outcomes
    t.match(guilty?.kind === 'broken off' ? guilty.why : '', why)
    t.same(kinds(await read('c', 'd')), ['read', 'read'], 'the next thread reads on')
  }
})

t.test('a mail that a busy machine leaves no time for is not given up', async (t) => {
  const { read } = open(t, hostile)
  t.same(kinds(await read('a', 'starve', 'b')), ['read', 'read', 'read'])
  t.same(kinds(await read('share', 'b')), ['read', 'read'])
})

t.test(
  'rules are read anew when they are said to be others; a thread that cannot start says so',
  async (t) => {
    const { reader, read, setLoops } = open(t, hostile)
    t.same(kinds(await read('a')), ['read'])
    setLoops(['broken'])
    t.same(kinds(await read('a')), ['read'], 'nobody has said so')
    reader.renew()
    await t.rejects(read('a'), { message: /cannot start: broken rules/ })
    setLoops([])
    t.same(kinds(await read('a')), ['read'])
  },
)

t.test('it reads every form of report that there is a fixture of', async (t) => {
  const { reader } = open(t)
  const dir = 'test/fixtures/reports'
  const files = readdirSync(dir).filter((name) => name.endsWith('.eml'))
  const outcomes = await reader.read(files.map((name) => arrived(readFileSync(join(dir, name)))))
  t.ok(files.length > 20)
  t.same(new Set(kinds(outcomes)), new Set(['read']))
  const verdicts = outcomes.flatMap((one) => (one.kind === 'read' ? one.reading.verdicts : []))
  t.ok(verdicts.some(({ class: name }) => name === 'bad-mailbox'))
})
