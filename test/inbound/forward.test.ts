import t from 'tap'
import { makeForwarding } from '../../src/inbound/index.js'
import { silentLog } from '../../src/log/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

t.test("a mail of the operator's that cannot be sent on keeps no other", async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  for (const id of [1, 2]) {
    await store.write(async (tx) => {
      const of = { id, received_at: clock.now(), mail_from: 'a@b.test', header_from: 'a@b.test' }
      const to = { recipient: 'postmaster@x.test', subject: `Letter ${id}`, to_forward: 1 }
      const rest = { remote_address: '192.0.2.1', size_bytes: 5 }
      await tx
        .insertInto('operator_mails')
        .values({ ...of, ...to, ...rest })
        .execute()
      const raw = Buffer.from('From: a@b.test\r\n\r\nHello\r\n')
      await tx.insertInto('operator_mail_sources').values({ id, raw }).execute()
    })
  }
  const [posted, told]: [string[], object[]] = [[], []]
  const forward = makeForwarding({
    store,
    clock,
    log: { ...silentLog, error: (fields) => void told.push(fields) },
    async post(_, { subject }) {
      if (/Letter 1/.test(subject)) throw new Error('it is broken')
      posted.push(subject)
    },
  })
  for (let run = 0; run < 2; run++) await forward(new AbortController().signal)
  t.same(posted, ['postmaster@x.test: Letter 2'])
  t.match(told, [{ id: 1, error: { message: 'it is broken' } }])
  t.equal(told.length, 1, 'it is told once, and kept')
})
