import { systemClock as clock } from '../../../src/clock/index.js'
import { makeWriteReceived, prepareReceived } from '../../../src/receiving/arrive.js'
import { readArrived } from '../../../src/receiving/desk.js'
import { readMail } from '../../../src/receiving/read-mail.js'
import { settleRead } from '../../../src/receiving/settle.js'
import { plans } from '../../support/campaigns.js'
import { fakeResolver } from '../../support/resolver.js'
import type { PlacePages } from '../every-page.js'

const long = 'wolfeschlegelsteinhausenbergerdorff'
const recipient = `${long}@in.sender.test`
const source = `From: ${long.repeat(2)} <${long}@example.test>
To: ${recipient}
Subject: ${`${long} `.repeat(8)}
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

${`${long} `.repeat(20)}

On Monday Shop wrote:
> ${long.repeat(10)}
--b
Content-Type: application/pdf; name="${long.repeat(4)}.pdf"
Content-Disposition: attachment; filename="${long.repeat(4)}.pdf"

%PDF
--b--
`.replaceAll('\n', '\r\n')

/** A mail that came in, with the longest that it may say of itself. */
export const place: PlacePages = {
  async fill({ store, accountId, ids }) {
    const { id: domainId } = await store.read
      .selectFrom('domains')
      .select('id')
      .where('account_id', '=', accountId)
      .executeTakeFirstOrThrow()
    const taken = { address: recipient, accountId, domainId, ruleId: 'none' } as const
    const to = {
      ...taken,
      action: 'store',
      forwardTo: null,
      maxBytes: 1_000_000,
      limits: { receivedPerDay: null, receivedPerHour: null },
      left: 1,
      leftWithin: 'day',
    } as const
    const id = store.ids.uuid()
    const from = { remoteAddress: '192.0.2.1', helo: 'client.test', mailFrom: 'a@example.test' }
    const raw = Buffer.from(source)
    const arrival = { ...from, taken: [to], raw, spam: null }
    await makeWriteReceived(store)(prepareReceived(arrival, [id], clock.now()))
    const arrived = await readArrived(store.read, id)
    if (arrived === undefined) throw new Error('It did not arrive')
    const read = await readMail(raw, { ...from, mta: 'mail.test' }, fakeResolver())
    await settleRead({ store, clock, plans }, arrived.row, read, undefined)
    ids.received = id
    ids.receivingRule = store.ids.uuid()
    const rule = { account_id: accountId, domain_id: domainId, place: 1, created_at: clock.now() }
    const forwards = { action: 'forward', forward_to: `${long}@example.test`, enabled: 1 } as const
    await store.write((tx) =>
      tx
        .insertInto('receiving_rules')
        .values({
          ...rule,
          ...forwards,
          id: ids.receivingRule ?? '',
          kind: 'prefix',
          local: long,
        })
        .execute(),
    )
  },
  pages: ({ full, ids }) => [
    { path: `${full}/received/${ids.received}`, as: 'owner', name: 'received-one' },
    { path: `${full}/received/${ids.received}`, as: 'viewer', name: 'received-one-viewer' },
    { path: `${full}/received?from=ann&state=read`, as: 'owner', name: 'received-none-fits' },
    { path: `${full}/receiving/${ids.receivingRule}`, as: 'owner', name: 'receiving-rule' },
    { path: `${full}/receiving/${ids.receivingRule}`, as: 'viewer', name: 'receiving-rule-viewer' },
  ],
}
