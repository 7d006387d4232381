import t from 'tap'
import { makeWriteReceived, prepareReceived } from '../../src/receiving/arrive.js'
import { readArrived } from '../../src/receiving/desk.js'
import { readMail } from '../../src/receiving/read-mail.js'
import { settleRead } from '../../src/receiving/settle.js'
import { day, openMailLog } from '../support/mail-log.js'
import { fakeResolver } from '../support/resolver.js'

const plain = 'Subject: Hello\r\n\r\nHello\r\n'
const withFiles = (n: number) =>
  `Subject: ${n}
Content-Type: multipart/mixed; boundary=b

--b

Hello ${n}
--b
Content-Type: text/html

<p>Hello
--b
Content-Type: application/pdf; name=a.pdf
Content-Disposition: attachment

file ${n}
--b
Content-Type: application/pdf; name=same.pdf
Content-Disposition: attachment

the same in all
--b--
`.replaceAll('\n', '\r\n')

t.test(
  'mail that came in goes with its texts and files when its plan keeps it no longer',
  async (t) => {
    const log = await openMailLog(t, { plan: 'Free' })
    const { clock, store, accountId } = log
    const { id: domainId } = await store.read
      .selectFrom('domains')
      .select('id')
      .executeTakeFirstOrThrow()
    const write = makeWriteReceived(store)
    const limits = { receivedPerDay: null, receivedPerHour: null }
    const whose = { address: 'support@in.example.com', accountId, domainId, ruleId: 'r' }
    const where = {
      action: 'store',
      forwardTo: null,
      maxBytes: 1_000,
      limits,
      left: 1,
      leftWithin: 'day',
    } as const
    const from = { remoteAddress: '127.0.0.1', helo: 'client.test', mailFrom: 'ann@example.test' }
    const arrive = async (text: string) => {
      const raw = Buffer.from(text)
      const id = store.ids.uuid()
      const taken = [{ ...whose, ...where }]
      await write(prepareReceived({ taken, ...from, raw, spam: null }, [id], clock.now()))
      return { id, raw }
    }
    const read = async ({ id, raw }: { id: string; raw: Buffer }) => {
      const mail = await readMail(raw, { ...from, mta: 'mail.test' }, fakeResolver())
      const found = await readArrived(store.read, id)
      if (found === undefined) throw new Error('It did not arrive')
      await settleRead({ store, clock, plans: log.plans }, found.row, mail, undefined)
    }
    // More than one write takes, some of them not read yet.
    for (let n = 0; n < 60; n++) {
      const one = await arrive(n % 2 === 0 ? plain : withFiles(n))
      if (n % 3 > 0) await read(one)
    }
    await clock.advance(2 * day)
    await read(await arrive(withFiles(61)))
    t.equal(await log.rows('received_texts'), 41)
    await clock.advance(5 * day)
    await log.run()
    t.equal(await log.rows('received'), 61, 'as long as it is kept')
    await clock.advance(1)
    await log.run()
    t.equal(await log.rows('received'), 1, 'that of two days later')
    t.equal(await log.rows('received_headers'), 1)
    t.equal(await log.rows('received_texts'), 1)
    t.equal(await log.rows('contents'), 3, 'its body, its file, and the one that all had')
    await clock.advance(2 * day)
    await log.run()
    for (const table of ['received', 'received_headers', 'received_texts'] as const) {
      t.equal(await log.rows(table), 0)
    }
    t.equal(await log.rows('contents'), 0)
    t.equal(await log.rows('content_pieces'), 0)
  },
)
