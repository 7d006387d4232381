// interface.md: Idempotency behaviour; decisions.md: idempotency.
import t from 'tap'
import { makeIdempotency } from '../../src/emails/index.js'
import { reply } from '../../src/http/index.js'
import { FakeClock } from '../support/clock.js'
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
    const { reply: answer, replayed } = await idempotency.once(
      { account, key: 'k', fingerprint: 'x' },
      async (remember) => {
        runs++
        await store.write((tx) => remember(tx, runs))
        return reply(200, runs)
      },
    )
    return { response: answer.body, replayed }
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
