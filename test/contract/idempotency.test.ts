// interface.md: Idempotency behaviour; decisions.md: idempotency.
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import { makeIdempotency } from '../../src/emails/index.js'
import { FakeClock } from '../support/clock.js'
import { poison } from '../support/poison.js'
import { startPosthorn } from '../support/posthorn.js'
import { openTestStore } from '../support/store.js'

const posthorn = await startPosthorn(t)
const good = { from: 'a@sender.test', to: 'ann@example.com', subject: 'Once', html: '<p>x</p>' }
const withKey = (key: string, body: object = good, path = '/v1/emails/send') =>
  posthorn.call('POST', path, { body, headers: { 'idempotency-key': key } })
const stored = async () =>
  (await posthorn.store.read.selectFrom('emails').select('id').execute()).length

t.test('a repeat gets the first answer, marked as a replay, and sends nothing', async (t) => {
  const first = await withKey('order-1')
  t.equal(first.status, 200)
  t.equal(first.headers.get('idempotency-replay'), null)
  const before = await stored()
  const second = await withKey('order-1')
  t.equal(second.status, 200)
  t.equal(second.headers.get('idempotency-replay'), 'true')
  t.same(second.json, first.json)
  t.equal(await stored(), before)
})

t.test('a batch is replayed with all its ids', async (t) => {
  const first = await withKey('batch-1', { emails: [good, good] }, '/v1/emails/batch')
  const second = await withKey('batch-1', { emails: [good, good] }, '/v1/emails/batch')
  t.same(second.json, first.json)
  t.equal(second.headers.get('idempotency-replay'), 'true')
})

t.test('another body, or another path: 409 invalid_idempotent_request', async (t) => {
  await withKey('order-2')
  for (const answer of [
    await withKey('order-2', { ...good, subject: 'Twice' }),
    await withKey('order-2', { emails: [good] }, '/v1/emails/batch'),
    await withKey('order-2', {}),
  ]) {
    t.match(answer, { status: 409, json: { code: 'invalid_idempotent_request', error: String } })
  }
})

t.test('JSON that differs in order and white space alone is the same request', async (t) => {
  const { from, to, subject, html } = good
  const sent = (text: string, key = 'order-json') =>
    posthorn.call('POST', '/v1/emails/send', { body: text, headers: { 'idempotency-key': key } })
  const metadata = '{"n":1,"deep":{"a":[{"x":1,"y":2}],"b":null}}'
  const fields = { from, to, subject, html }
  const text = (more: string) => JSON.stringify(fields).replace(/}$/, `,"metadata":${more}}`)
  const first = await sent(text(metadata))
  t.equal(first.status, 200)
  for (const same of [
    text('{ "deep" : {"b":null, "a":[ {"y":2,"x":1} ]},\n"n": 1.0 }'),
    text('{"n":10e-1,"deep":{"a":[{"x":1,"y":2}],"b":null}}'),
    // JSON.parse takes the last of two.
    text('{"n":2,"n":1,"deep":{"a":[{"x":1,"y":2}],"b":null}}'),
    text(metadata).replace('"x"', '"\\u0078"'),
  ]) {
    const again = await sent(same)
    t.same([again.status, again.json], [200, first.json], same)
    t.equal(again.headers.get('idempotency-replay'), 'true')
  }
  for (const other of ['{"n":1,"deep":{"a":[{"x":2,"y":1}],"b":null}}', '{"n":"1"}', '{}', '[]']) {
    t.equal((await sent(text(other))).status, 409, other)
  }
  const slashed = { body: text(metadata), headers: { 'idempotency-key': 'order-json' } }
  t.equal((await posthorn.call('POST', '/v1/emails/send/', slashed)).status, 200)

  t.comment('what is nested deeper than the stack is compared as it is written')
  const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  t.equal((await sent(text(deep), 'deep')).status, 400, 'too deep for metadata')
  const nested = `${JSON.stringify(fields).slice(0, -1)},"more":${deep}}`
  t.equal((await sent(nested, 'deep')).status, 200)
  t.equal((await sent(nested, 'deep')).headers.get('idempotency-replay'), 'true')
  t.equal((await sent(` ${nested}`, 'deep')).status, 409)
})

const list = (await posthorn.call('POST', '/v1/contacts/lists', { body: { name: 'All' } })).json.id
await posthorn.call('POST', `/v1/contacts/${list}`, { body: { email: 'cy@x.test' } })
const plans = loadPlans(packageFile('config/plans.toml'))
await posthorn.store.write((tx) =>
  setMarketingPlan(tx, posthorn.accountId, findPlan(plans.marketing, 'Marketing Plus')),
)
const campaign = { listId: list, from: good.from, subject: 'x', html: '<p>x</p>' }
const draft = async () =>
  (await posthorn.call('POST', '/v1/broadcasts', { body: { ...campaign, draft: true } })).json.id

t.test('every POST takes a key, and replays status and answer', async (t) => {
  for (const [status, path, body] of [
    [200, '/v1/emails/ussd', good],
    [201, '/v1/contacts/lists', { name: 'Twins' }],
    [201, `/v1/contacts/${list}`, { email: 'once@x.test' }],
    [201, '/v1/topics', { name: 'Once' }],
    [200, '/v1/broadcasts/preview', { listId: list }],
    [200, '/v1/broadcasts/test', { ...campaign, to: 'me@sender.test' }],
    [200, '/v1/broadcasts', { ...campaign, draft: true }],
    [200, `/v1/broadcasts/${await draft()}/send`, undefined],
    [200, `/v1/broadcasts/${await draft()}/cancel`, undefined],
  ] as const) {
    const once = () =>
      posthorn.call('POST', path, {
        ...(body === undefined ? {} : { body }),
        headers: { 'idempotency-key': `every${path}` },
      })
    const first = await once()
    t.equal(first.status, status, path)
    t.equal(first.headers.get('idempotency-replay'), null)
    const again = await once()
    t.same([again.status, again.json], [status, first.json], path)
    t.equal(again.headers.get('idempotency-replay'), 'true', path)
  }
  const { json } = await posthorn.call('GET', '/v1/contacts/lists')
  const twins = json.lists.filter(({ name }: { name: string }) => name === 'Twins')
  t.equal(twins.length, 1)
})

t.test('an import with a key is done once, whatever its boundary', async (t) => {
  const upload = (boundary: string, rows: string, key = 'import-1') => {
    const head = 'Content-Disposition: form-data; name="file"; filename="a.csv"'
    return posthorn.call('POST', `/v1/contacts/${list}/import`, {
      body: `--${boundary}\r\n${head}\r\n\r\nemail\n${rows}\r\n--${boundary}--`,
      headers: {
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'idempotency-key': key,
      },
    })
  }
  const rows = 'i1@x.test\ni2@x.test\nnobody\n'
  const first = await upload('one', rows)
  t.match(first.json, { imported: 2, skipped: 0, invalid: 1 })
  const again = await upload('another', rows)
  t.same(again.json, first.json)
  t.equal(again.headers.get('idempotency-replay'), 'true')
  t.match(await upload('one', 'i3@x.test\n'), { status: 409 })
  const { json } = await posthorn.call('GET', `/v1/contacts/${list}?email=i3@x.test`)
  t.same(json.contacts, [], 'nothing of another file is read')
  t.match(await upload('one', `${rows}"open`, 'import-2'), { status: 400 })
  t.match(await upload('one', rows, 'import-2'), { status: 200, json: { skipped: 2 } })
  const race = await Promise.all(['x', 'y', 'z'].map((b) => upload(b, 'i4@x.test\n', 'import-3')))
  t.equal(
    race.filter(({ status, json }) => status === 200 && json.imported === 1).length >= 1,
    true,
  )
  for (const { status, json } of race) {
    t.ok(status === 409 || json.imported === 1, 'none tells of another import')
  }
})

t.test('the key is committed with the effect: neither is there without the other', async (t) => {
  const { store } = posthorn
  const counts = async () => {
    const tables = ['emails', 'contact_lists', 'contacts', 'topics', 'broadcasts'] as const
    const rows = await Promise.all(
      tables.map((table) =>
        store.read
          .selectFrom(table)
          .select((eb) => eb.fn.countAll<number>().as('rows'))
          .executeTakeFirstOrThrow(),
      ),
    )
    const drafts = await store.read
      .selectFrom('broadcasts')
      .select('id')
      .where('status', '=', 'draft')
      .execute()
    return [...rows.map(({ rows }) => rows), drafts.length]
  }
  const [sent, cancelled] = [await draft(), await draft()]
  const heal = await poison(store, 'insert on idempotency_keys', 'new.key is not null')
  const before = await counts()
  for (const [path, body] of [
    ['/v1/emails/send', good],
    ['/v1/emails/batch', { emails: [good] }],
    ['/v1/emails/ussd', good],
    ['/v1/contacts/lists', { name: 'Lost' }],
    [`/v1/contacts/${list}`, { email: 'lost@x.test' }],
    ['/v1/topics', { name: 'Lost' }],
    ['/v1/broadcasts/test', { ...campaign, to: 'me@sender.test' }],
    ['/v1/broadcasts', campaign],
    [`/v1/broadcasts/${sent}/send`, undefined],
    [`/v1/broadcasts/${cancelled}/cancel`, undefined],
  ] as const) {
    const answer = await posthorn.call('POST', path, {
      ...(body === undefined ? {} : { body }),
      headers: { 'idempotency-key': 'lost' },
    })
    t.ok(answer.status >= 500, `${path} ${answer.status}`)
    t.same(await counts(), before, path)
  }
  await heal()
})

t.test('100 identical requests at once: exactly one mail', async (t) => {
  const before = await stored()
  const answers = await Promise.all(Array.from({ length: 100 }, () => withKey('race')))
  const fresh = answers.filter(
    (a) => a.status === 200 && a.headers.get('idempotency-replay') === null,
  )
  const replays = answers.filter((a) => a.headers.get('idempotency-replay') === 'true')
  const refused = answers.filter((a) => a.status === 409)
  t.equal(fresh.length, 1)
  t.equal(fresh.length + replays.length + refused.length, 100)
  t.ok(refused.every((a) => a.json.code === 'concurrent_idempotent_request'))
  t.ok(replays.every((a) => a.json.id === fresh[0]?.json.id))
  t.equal(await stored(), before + 1)
})

t.test('a key whose request failed is free again', async (t) => {
  t.equal((await withKey('order-3', { ...good, from: 'a@other.test' })).status, 400)
  t.equal((await withKey('order-3')).status, 200)
})

t.test("keys are the account's own", async (t) => {
  const first = await withKey('shared')
  const other = await posthorn.addAccount('Other')
  const foreign = await posthorn.call('POST', '/v1/emails/send', {
    body: good,
    key: other.apiKey,
    headers: { 'idempotency-key': 'shared' },
  })
  t.equal(first.status, 200)
  t.match(foreign, { status: 400, json: { code: 'domain_not_verified' } }, 'it is not a replay')
})

t.test('a key that is none: 400', async (t) => {
  for (const key of ['x'.repeat(256), 'a b', 'ä']) {
    const answer = await withKey(key).catch(() => ({
      status: 400,
      json: { code: 'validation_error' },
    }))
    t.match(answer, { status: 400, json: { code: 'validation_error' } }, key.slice(0, 10))
  }
  t.equal((await withKey('y'.repeat(255))).status, 200)
})

t.test('it expires after 24 hours, and old rows are swept', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const idempotency = makeIdempotency({ store, clock })
  let runs = 0
  const account = { accountId: 'a', keyId: 'k' }
  const once = async () => {
    const { body: response, replayed } = await idempotency.once(
      { account, key: 'k', fingerprint: 'x' },
      async (remember) => {
        runs++
        await store.write((tx) => remember(tx, runs))
        return { status: 200, body: runs }
      },
    )
    return { response, replayed }
  }
  t.same(await once(), { response: 1, replayed: false })
  await clock.advance(86_399_000)
  t.same(await once(), { response: 1, replayed: true })
  await clock.advance(1_000)
  t.same(await once(), { response: 2, replayed: false })
  await clock.advance(86_400_000)
  await idempotency.sweep(new AbortController().signal)
  t.same(await store.read.selectFrom('idempotency_keys').selectAll().execute(), [])
})
