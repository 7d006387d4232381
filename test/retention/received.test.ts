import t from 'tap'
import { makeWriteReceived } from '../../src/receiving/arrive.js'
import { day, openMailLog } from '../support/mail-log.js'

t.test(
  'mail that came in goes with all that hangs on it when its plan keeps it no longer',
  async (t) => {
    const log = await openMailLog(t, { plan: 'Free' })
    const { clock, store, accountId } = log
    const { id: domainId } = await store.read
      .selectFrom('domains')
      .select('id')
      .executeTakeFirstOrThrow()
    const write = makeWriteReceived(store)
    const taken = {
      address: 'support@in.example.com',
      accountId,
      domainId,
      ruleId: 'r',
      action: 'store',
      forwardTo: null,
      maxBytes: 1_000,
    } as const
    const arrive = () =>
      write({
        arrival: {
          taken: [taken],
          remoteAddress: '127.0.0.1',
          helo: 'client.test',
          mailFrom: 'ann@example.test',
          raw: Buffer.from('Subject: Hello\r\n\r\nHello\r\n'),
          spam: null,
        },
        ids: [store.ids.uuid()],
        now: clock.now(),
      })
    // More than one write takes.
    for (let n = 0; n < 60; n++) await arrive()
    await clock.advance(2 * day)
    await arrive()
    await clock.advance(5 * day)
    await log.run()
    t.equal(await log.rows('received'), 61, 'as long as it is kept')
    await clock.advance(1)
    await log.run()
    t.equal(await log.rows('received'), 1, 'that of two days later')
    t.equal(await log.rows('received_headers'), 1)
    t.equal(await log.rows('contents'), 1)
    await clock.advance(2 * day)
    await log.run()
    t.equal(await log.rows('received'), 0)
    t.equal(await log.rows('content_pieces'), 0)
  },
)
