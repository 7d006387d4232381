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
      ...{ kind: 'not-a-report', why: 'a letter', tokens: [] },
      original: { messageId: '', to: '', subject: '' },
    },
    verdicts: [],
  },
}

t.test('a mail that ends its reader is tried once more, then given up; others go on', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const spool = await openSpool({ store, clock }, { mails: 30, bytes: 2 ** 20 })
  const keep = (text: string) =>
    spool.keep({
      envelope: { remoteAddress: '192.0.2.1', mailFrom: '', helo: '' },
      ...{ reports: ['x@y.test'], operator: [] },
      ...{ raw: Buffer.from(text), sizeBytes: 4, forward: false },
    })
  const batches: string[][] = []
  const clerk = startClerk({
    ...{ store, clock, log: silentLog, meter: silentMeter, spool, returnPaths },
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
