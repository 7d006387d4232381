// Issue 'what operators and developers ask', 2: limits by the hour and the minute, for plans and for keys.
import t from 'tap'
import { createKey } from '../../src/accounts/index.js'
import { forgetHandedIn } from '../../src/billing/index.js'
import { hourMs } from '../../src/clock/index.js'
import { startSubmission, submit } from '../submission/start.js'
import { FakeClock } from '../support/clock.js'
import { startPosthorn } from '../support/posthorn.js'

const good = { from: 'a@sender.test', to: 'ann@example.com', subject: 'x', html: '<p>x</p>' }
const many = (n: number) => Array.from({ length: n }, (_, i) => `r${i}@example.com`)

t.test(
  'a key has its own number of mails an hour and a minute, whole batches or none',
  async (t) => {
    const clock = new FakeClock(Date.parse('2046-11-21T12:00:10Z'))
    const posthorn = await startPosthorn(t, { clock })
    const { json: made } = await posthorn.call('POST', '/v1/keys', {
      body: { name: 'Printer', scope: 'sending', perHour: 5, perMinute: 3 },
    })
    t.match(made, { perHour: 5, perMinute: 3 })
    const { key } = made
    const send = (to: string | string[]) =>
      posthorn.call('POST', '/v1/emails/send', { key, body: { ...good, to } })
    const batch = (n: number) =>
      posthorn.call('POST', '/v1/emails/batch', {
        key,
        body: { emails: Array.from({ length: n }, () => good) },
      })
    t.equal((await send(many(2))).status, 200, 'each recipient is a mail')
    const two = await batch(2)
    t.match(two, {
      status: 429,
      json: {
        code: 'rate_limit_exceeded',
        canSend: 1,
        limit: 3,
        used: 2,
        per: 'minute',
        of: 'key',
      },
    })
    t.equal(two.json.resetsAt, '2046-11-21T12:01:00.000Z')
    t.equal(two.headers.get('retry-after'), '50')
    t.equal((await batch(1)).status, 200)
    const full = await send('x@example.com')
    t.match(full, {
      status: 429,
      json: { limit: 3, used: 3, per: 'minute', of: 'key', resetsAt: '2046-11-21T12:01:00.000Z' },
    })
    const never = await send(many(4))
    t.match(never, {
      status: 422,
      json: { code: 'validation_error', limit: 3, per: 'minute', of: 'key' },
    })
    t.equal(never.headers.get('retry-after'), null, 'to wait does not help')
    t.match((await batch(4)).status, 422)
    t.match(never.json, { error: /4 mails at once.*3 within a minute: hand in fewer at once/ })
    t.equal((await posthorn.send(good)).status, 200, 'another key has its own')
    await clock.advance(60_000)
    t.equal((await batch(2)).status, 200, 'what was refused has counted nowhere')
    t.match((await send('x@example.com')).json, { per: 'hour', limit: 5, used: 5 })
    await clock.advance(hourMs)
    t.equal((await send(many(3))).status, 200)
    // From the next request on, also where a limit is taken away.
    const at = `/v1/keys/${made.id}`
    await posthorn.call('PATCH', at, { body: { perMinute: 'any', perHour: 6 } })
    t.match((await posthorn.call('GET', at)).json, { perHour: 6, perMinute: null })
    t.equal((await send(many(3))).status, 200)
    t.equal((await send('x@example.com')).status, 429)
    const wrong = await posthorn.call('PATCH', at, { body: { perHour: 0 } })
    t.equal(wrong.status, 400)
    const useless = await posthorn.call('POST', '/v1/keys', {
      body: { name: 'r', scope: 'read', perHour: 1 },
    })
    t.match(useless, { status: 422, json: { field: 'perHour' } })
  },
)

t.test('a key that is limited makes none that may hand in more', async (t) => {
  const posthorn = await startPosthorn(t)
  const { json: full } = await posthorn.call('POST', '/v1/keys', {
    body: { name: 'Deploy', perHour: 10 },
  })
  const make = (body: object) =>
    posthorn.call('POST', '/v1/keys', { key: full.key, body: { name: 'other', ...body } })
  t.match(await make({}), { status: 403, json: { error: /perHour.*up to 10/ } })
  t.equal((await make({ perHour: 10 })).status, 201)
  const lift = await posthorn.call('PATCH', `/v1/keys/${full.id}`, {
    key: full.key,
    body: { perHour: 'any' },
  })
  t.equal(lift.status, 403, 'nor does it lift its own limit')
})

t.test('mail by SMTP counts with that of the API, and the session goes on', async (t) => {
  const posthorn = await startSubmission(t)
  const { id, key } = await createKey(
    { store: posthorn.store, clock: { now: Date.now } as never },
    posthorn.accountId,
    'Mailer',
    { limits: { perHour: 2 } },
  )
  await posthorn.call('POST', '/v1/emails/send', { key, body: good })
  const talk = await posthorn.loggedIn()
  const message = 'From: ada@sender.test\r\nTo: bob@example.test\r\nSubject: hi\r\n\r\nhi\r\n'
  t.match(await submit(talk, message), /^250/, 'of another key')
  await posthorn.call('PATCH', `/v1/keys/${id}`, { body: { perHour: 1 } })
  const { json } = await posthorn.call('GET', '/v1/keys')
  const own = json.keys.find((one: { name: string }) => one.name === 'test')
  await posthorn.call('PATCH', `/v1/keys/${own.id}`, { body: { perHour: 1 } })
  // Its keys are remembered for a second in that thread.
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  t.match(await submit(talk, message), /^250|^452/)
  const refused = await submit(talk, message)
  t.match(
    refused,
    /^452 4\.7\.1 1 of the 1 mails that this key may hand in within an hour are used/,
  )
  t.match(
    await submit(await posthorn.loggedIn(), message, {
      to: ['bob@example.test', 'eve@example.test'],
    }),
    /^550 5\.\d\.\d These are 2 mails at once/,
    'so many never fit: a mail server gives it back at once',
  )
})

t.test('hours and minutes that nothing asks for any more are forgotten', async (t) => {
  const clock = new FakeClock(Date.parse('2046-11-21T12:00:00Z'))
  const posthorn = await startPosthorn(t, { clock })
  const { json } = await posthorn.call('POST', '/v1/keys', { body: { name: 'k', perMinute: 9 } })
  await posthorn.call('POST', '/v1/emails/send', { key: json.key, body: good })
  const rows = () => posthorn.store.read.selectFrom('handed_in').select('span').execute()
  t.equal((await rows()).length, 2)
  const forget = (now: number) => posthorn.store.write((tx) => forgetHandedIn(tx, now))
  await forget(clock.now() + 2 * hourMs)
  t.same(await rows(), [{ span: hourMs }])
  await forget(clock.now() + 16 * 24 * hourMs)
  t.same(await rows(), [])
})
