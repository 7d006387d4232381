import t, { type Test } from 'tap'
import { openSpool } from '../../src/inbound/spool.js'
import { FakeClock } from '../support/clock.js'
import { poison } from '../support/poison.js'
import { countStatements } from '../support/statements.js'
import { openTestStore } from '../support/store.js'

async function open(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const spool = await openSpool({ store, clock }, { mails: 1_000, bytes: 2 ** 24 })
  return {
    store,
    keep: (text: string, operator: readonly string[] = []) =>
      spool.keep({
        envelope: { remoteAddress: '192.0.2.1', mailFrom: '', helo: 'mx' },
        reports: ['x@y.test'],
        operator,
        raw: Buffer.from(text),
        sizeBytes: text.length,
        forward: false,
      }),
    spooled: async () => {
      const rows = await store.read
        .selectFrom('inbound_spool')
        .select('raw')
        .orderBy('id')
        .execute()
      return rows.map(({ raw }) => raw.toString())
    },
  }
}

t.test('mails that arrive together are written by a few statements', async (t) => {
  const { store, keep, spooled } = await open(t)
  await keep('first')
  const counts = countStatements(t)
  const letters = Array.from({ length: 50 }, (_, i) => `Subject: ${i}\r\n\r\nx`)
  await Promise.all(letters.map((text) => keep(text)))
  const made = [...counts.values()].reduce((sum, times) => sum + times, 0)
  // 50 = 32 + 16 + 2 rows, and what begins and ends the transaction.
  t.ok(made > 0 && made <= 8, `${made} statements`)
  t.same(await spooled(), ['first', ...letters])
  await keep('Subject: Hello\r\n\r\nx', ['postmaster@y.test', 'abuse@y.test'])
  const mails = await store.read
    .selectFrom('operator_mails as mail')
    .innerJoin('operator_mail_sources as source', 'source.id', 'mail.id')
    .select(['recipient', 'subject', 'raw'])
    .orderBy('mail.id')
    .execute()
  t.same(
    mails.map(({ recipient, subject, raw }) => `${recipient} ${subject} ${raw.length}`),
    ['postmaster@y.test Hello 19', 'abuse@y.test Hello 19'],
  )
})

t.test('one that cannot be kept is refused alone, and leaves its room to others', async (t) => {
  const { store, keep, spooled } = await open(t)
  await poison(store, 'insert on inbound_spool', 'length(new.raw) = 3')
  const kept = await Promise.allSettled(['a', 'b', 'ccc', 'd'].map((text) => keep(text)))
  t.same(
    kept.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
  t.same(await spooled(), ['a', 'b', 'd'])
})
