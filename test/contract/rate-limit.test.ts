// interface.md: Limits (request rate, rate-limit headers); decisions.md: every 429, 401s.
import t from 'tap'
import { makeRateLimiter } from '../../src/http/rate-limit.js'
import { FakeClock } from '../support/clock.js'
import { startPosthorn } from '../support/posthorn.js'

t.test(
  '100 requests per 60 seconds per key, with the three headers on every response',
  async (t) => {
    const posthorn = await startPosthorn(t, { env: { POSTHORN_HTTP_RATE_LIMIT_REQUESTS: '100' } })
    const other = await posthorn.addAccount('Other')
    const get = (key?: string) =>
      posthorn.call('GET', '/v1/emails/none', key === undefined ? {} : { key })
    const began = Math.floor(Date.now() / 1000)
    for (let left = 99; left >= 0; left--) {
      const { status, headers } = await get()
      t.equal(status, 404)
      t.equal(headers.get('x-ratelimit-limit'), '100')
      t.equal(headers.get('x-ratelimit-remaining'), String(left))
      const reset = Number(headers.get('x-ratelimit-reset'))
      t.ok(reset > began && reset <= began + 90, 'seconds since the epoch, within the window')
    }
    const { status, json, headers } = await get()
    t.match({ status, json }, { status: 429, json: { code: 'rate_limit_exceeded', error: String } })
    t.equal(headers.get('x-ratelimit-remaining'), '0')
    const wait = Number(headers.get('retry-after'))
    t.ok(wait >= 1 && wait <= 60)
    t.equal((await get(other.apiKey)).status, 404, 'another key has a count of its own')
    const send = await posthorn.send({
      from: 'a@sender.test',
      to: 'b@c.test',
      subject: 'x',
      html: 'x',
    })
    t.equal(send.status, 429, 'all endpoints share it')
    t.same(await posthorn.store.read.selectFrom('emails').select('id').execute(), [])
  },
)

t.test('401s are counted by client address', async (t) => {
  const posthorn = await startPosthorn(t, { env: { POSTHORN_HTTP_RATE_LIMIT_REQUESTS: '5' } })
  const get = (key: string) => posthorn.call('GET', '/v1/emails/none', { key })
  for (let i = 0; i < 5; i++) {
    const { status, headers } = await get(`wrong${i}`)
    t.equal(status, 401)
    t.equal(headers.get('x-ratelimit-remaining'), String(4 - i))
  }
  t.equal((await get('wrong')).status, 429)
  t.equal((await get(posthorn.apiKey)).status, 404, 'a good key is not held up by them')
})

t.test('the window ends and begins anew', async (t) => {
  const clock = new FakeClock()
  const posthorn = await startPosthorn(t, {
    clock,
    env: { POSTHORN_HTTP_RATE_LIMIT_REQUESTS: '2' },
  })
  const get = () => posthorn.call('GET', '/v1/emails/none')
  t.same([(await get()).status, (await get()).status, (await get()).status], [404, 404, 429])
  await clock.advance(60_000)
  t.equal((await get()).status, 404)
})

t.test('a clock that is set back locks nobody out for longer than a window', async (t) => {
  const clock = new FakeClock()
  const limiter = makeRateLimiter({ requests: 1, windowMs: 60_000 }, clock)
  t.equal(limiter.take('key').allowed, true)
  t.equal(limiter.take('key').allowed, false)
  await clock.advance(-7_200_000)
  const standing = limiter.take('key')
  t.equal(standing.allowed, true)
  t.equal(standing.resetAt, clock.now() + 60_000)
  t.equal(limiter.take('key').allowed, false)
})
