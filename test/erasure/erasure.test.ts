// What is known of somebody, at a running appliance: in a file, or gone.
import { strFromU8, unzipSync } from 'fflate'
import t from 'tap'
import { noteAudit } from '../../src/audit/index.js'
import { systemClock as clock, pause } from '../../src/clock/index.js'
import { findContact } from '../../src/contacts/index.js'
import { downloadOf, findErasure, makeErasures } from '../../src/erasure/index.js'
import { without } from '../../src/erasure/replace.js'
import { silentLog } from '../../src/log/index.js'
import { startPosthorn } from '../support/posthorn.js'

const address = 'delivered@simulator.posthorn.test'
const good = { from: 'a@sender.test', to: address, subject: `For ${address}`, html: '<p>x</p>' }

t.test('an address that has the erased one in it stays as it is', async (t) => {
  const erased = { address: 'ann@x.org', name: 'gone' }
  for (const text of [
    'joann@x.org',
    'j.ann@x.org',
    'é' + 'ann@x.org',
    'ann@x.organic',
    'ann@x.org.uk',
    'ann@x.org-a.net',
  ])
    t.equal(without(erased, text), text)
  for (const [text, left] of [
    ['Ann <Ann@X.org>, joann@x.org', 'Ann <gone>, joann@x.org'],
    ['{"to":"ann@x.org"}', '{"to":"gone"}'],
    [JSON.stringify('Dear\nann@x.org.'), JSON.stringify('Dear\ngone.')],
    ["?to=ann@x.org&'ann@x.org'", "?to=gone&'gone'"],
  ] as const)
    t.equal(without(erased, text), left)
  t.equal(without(erased, null), null)
})

t.test(
  'an address is gone from everywhere, and never mailed again, whoever brings it',
  async (t) => {
    const posthorn = await startPosthorn(t)
    const { call, store, accountId, send, until } = posthorn
    const list = (await call('POST', '/v1/contacts/lists', { body: { name: 'L' } })).json.id
    const body = { email: 'Delivered@simulator.posthorn.test', firstName: 'Ann' }
    await call('POST', `/v1/contacts/${list}`, { body })
    const fields = [{ name: 'town', label: 'What town?', type: 'text', required: false }]
    const signUp = { name: 'F', lists: [list], consent: 'News?', from: good.from, fields }
    const form = (await call('POST', '/v1/forms', { body: signUp })).json.id
    const sentIn = { body: { email: address, agreed: true, fields: { town: 'Lagos' } } }
    t.equal((await call('POST', `/v1/forms/${form}/submissions`, sentIn)).status, 202)
    const { id } = (await send(good)).json
    await until(id, ({ status }) => status === 'delivered')
    const later = new Date(clock.now() + 3_600_000).toISOString()
    const waiting = (await send({ ...good, scheduledAt: later })).json.id
    await store.write((tx) =>
      noteAudit(tx, {
        at: clock.now(),
        accountId,
        actor: { kind: 'system', name: 'test', userId: null, clientAddressKey: null },
        action: 'contact.add',
        target: address,
        detail: { email: address },
      }),
    )

    const pieces = []
    for await (const piece of downloadOf(store.read, accountId, address, clock.now()))
      pieces.push(piece)
    const files = unzipSync(Buffer.concat(pieces))
    t.same(Object.keys(files), ['everything.json', 'mails.csv', 'consent.csv', 'overview.html'])
    const overview = strFromU8(files['overview.html'] ?? new Uint8Array())
    t.match(overview, `What is stored about ${address}`)
    // Names in the place of ids, and times without their seconds.
    t.match(overview, /list: L</)
    t.notMatch(overview, list)
    t.match(overview, /since \d{4}-\d\d-\d\d \d\d:\d\d</)
    t.match(overview, /answers: What town\?: Lagos/)
    t.match(overview, /First name<\/th><td>Ann<[\s\S]*What they agreed to[\s\S]*Mails<\/th><td>3</)
    const everything = JSON.parse(strFromU8(files['everything.json'] ?? new Uint8Array()))
    t.match(everything, {
      contact: { firstName: 'Ann' },
      wasErased: false,
      mails: [{}, { id }, {}],
    })
    t.match(everything.forms, [{ formId: form, state: 'waiting' }])
    t.match(everything.consent, [{ kind: 'added' }])
    t.ok(everything.mails[1].events.some(({ type }: { type: string }) => type === 'delivered'))

    const first = makeErasures({ store, clock, log: silentLog })
    const begun = await first.begin(accountId, address, 'u')
    // Cut off at once; another one, as after a kill, goes on.
    await first.close()
    t.equal(await findContact(store.read, accountId, address), undefined)
    const second = makeErasures({ store, clock, log: silentLog })
    t.teardown(() => second.close())
    await second.resume()
    for (;;) {
      const { state, result } = await findErasure(store.read, accountId, begun.id)
      if (state === 'done') break
      if (state !== 'running') throw new Error(`${state}: ${result.reason}`)
      await pause(clock, 10)
    }
    t.match(begun.name, /^erased-[0-9a-f]{16}@erased\.invalid$/)
    for (const table of [
      'contacts',
      'emails',
      'deliveries',
      'queue',
      'events',
      'consent',
      'suppressions',
      'audit_log',
      'tasks',
      'form_entries',
      'webhook_deliveries',
      'webhook_jobs',
    ] as const) {
      const rows = await store.read.selectFrom(table).selectAll().execute()
      t.notMatch(JSON.stringify(rows).toLowerCase(), address, table)
    }
    t.equal((await call('GET', `/v1/emails/${id}`)).status, 200, 'the mail is still read')
    t.match((await posthorn.email(waiting)).status, 'cancelled')

    const again = await send(good)
    t.equal((await posthorn.email(again.json.id)).status, 'suppressed', JSON.stringify(again.json))
    const csv = ['--b', 'content-disposition: form-data; name="file"; filename="a.csv"', '']
    await call('POST', `/v1/contacts/${list}/import`, {
      body: Buffer.from([...csv, `email\n${address}\nben@x.test\n`, '--b--', ''].join('\r\n')),
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    })
    const found = (await call('GET', `/v1/contacts/${list}`)).json.contacts
    t.same(
      new Map(
        found.map((one: { email: string; suppressed: string }) => [one.email, one.suppressed]),
      ),
      new Map([
        ['ben@x.test', null],
        [address, 'manual'],
      ]),
    )
  },
)
