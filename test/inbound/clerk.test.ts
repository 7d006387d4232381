import t from 'tap'
import { makeLandEvents } from '../../src/events/index.js'
import { startClerk } from '../../src/inbound/clerk.js'
import type { ReadOutcome } from '../../src/inbound/reader.js'
import { openSpool } from '../../src/inbound/spool.js'
import { silentLog } from '../../src/log/index.js'
import { silentMeter } from '../../src/metrics/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'
import { returnPaths } from './start.js'

const unread: ReadOutcome = {
  kind: 'read',
  reading: {
    report: {
      kind: 'not-a-report',
      why: 'a letter',
      tokens: [],
      original: { messageId: '', to: '', subject: '' },
    },
    verdicts: [],
  },
}

t.test(
  'turns are by time: a flood that takes long to read delays another by one mail',
  async (t) => {
    const clock = new FakeClock()
    const store = await openTestStore(t, { clock })
    const spool = await openSpool({ store, clock }, { mails: 1_000, bytes: 2 ** 20 })
    const keep = (remoteAddress: string, text: string) =>
      spool.keep({
        envelope: { remoteAddress, mailFrom: '', helo: '' },
        reports: ['x@y.test'],
        operator: [],
        raw: Buffer.from(text),
        sizeBytes: 4,
        forward: false,
      })
    for (let i = 0; i < 64; i++) await keep('192.0.2.1', `slow ${i}`)
    const read: string[] = []
    const clerk = startClerk({
      store,
      clock,
      log: silentLog,
      meter: silentMeter,
      spool,
      returnPaths,
      land: makeLandEvents([]),
      reader: {
        async read(mails, goOn = () => true) {
          const outcomes: ReadOutcome[] = mails.map(() => ({ kind: 'not reached' }))
          for (const [at, { raw }] of mails.entries()) {
            const text = raw.toString()
            read.push(text)
            // While the first of the flood is read, as long as the reader allows, another network has some.
            if (text === 'slow 0')
              for (let i = 0; i < 3; i++) await keep('198.51.100.1', `other ${i}`)
            await clock.advance(text.startsWith('slow') ? 2_000 : 1)
            outcomes[at] = unread
            if (!goOn(at, text.startsWith('slow') ? 2_000 : 1)) break
          }
          return outcomes
        },
        renew() {},
        async close() {},
      },
    })
    t.teardown(() => clerk.close())
    while ((await store.read.selectFrom('inbound_spool').select('id').execute()).length > 0) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    t.same(read.slice(0, 5), ['slow 0', 'other 0', 'other 1', 'other 2', 'slow 1'])
    t.equal(read.length, 67, 'each is read once')
  },
)

t.test('a mail that ends its reader is tried once more, then given up; others go on', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const spool = await openSpool({ store, clock }, { mails: 30, bytes: 2 ** 20 })
  const keep = (text: string) =>
    spool.keep({
      envelope: { remoteAddress: '192.0.2.1', mailFrom: '', helo: '' },
      reports: ['x@y.test'],
      operator: [],
      raw: Buffer.from(text),
      sizeBytes: 4,
      forward: false,
    })
  const batches: string[][] = []
  const clerk = startClerk({
    store,
    clock,
    log: silentLog,
    meter: silentMeter,
    spool,
    returnPaths,
    land: makeLandEvents([]),
    reader: {
      async read(mails) {
        if (mails.length > 0) batches.push(mails.map(({ raw }) => raw.toString()))
        const at = mails.findIndex(({ raw }) => raw.toString() === 'bomb')
        if (at < 0) return mails.map(() => unread)
        return mails.map((_, i) =>
          i < at ? unread : i > at ? { kind: 'not reached' } : { kind: 'broken off', why: 'boom' },
        )
      },
      renew() {},
      async close() {},
    },
  })
  t.teardown(() => clerk.close())
  const left = async () =>
    (await store.read.selectFrom('inbound_spool').select(['raw', 'tries']).execute()).map(
      ({ raw, tries }) => `${raw} ${tries}`,
    )
  const until = async (expected: string[]) => {
    while (`${await left()}` !== `${expected}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
  }
  for (const text of ['a', 'bomb', 'b']) await keep(text)
  t.notOk(spool.hasRoom('192.0.2.1', 0))
  clerk.ring()
  await until(['bomb 1'])
  t.equal(
    batches.flat().filter((text) => text === 'a').length,
    1,
    'what came before it is done with',
  )
  t.ok(spool.hasRoom('192.0.2.1', 0), 'those that are done with make room')
  // It may have been another's fault.
  await clock.advance(60_000)
  await until([])
  t.equal(batches.flat().filter((text) => text === 'bomb').length, 2)
})
