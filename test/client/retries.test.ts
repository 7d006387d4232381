import { inspect } from 'node:util'
import t from 'tap'
import {
  AccountPausedError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  ImportInterrupted,
  isPosthornError,
  metaOf,
  NotFoundError,
  PermissionError,
  Posthorn,
  PosthornError,
  QuotaError,
  RateLimitError,
  ServerError,
  TimeoutError,
  ValidationError,
} from '../../src/client/index.js'
import { type Step, scripted } from './scripted.js'

const mail = { from: 'a@b.test', to: 'c@d.test', subject: 'S', html: '<p>H</p>' }
const good: Step = { status: 200, body: { id: 'x', message: 'Email queued' } }
const error = (status: number, code: string, more = {}): Exclude<Step, string> => ({
  status,
  body: { code, error: `It is ${code}`, ...more },
})
const page: Step = { status: 502, body: `<html>${'Bad gateway '.repeat(50)}</html>` }

for (const [what, step] of [
  ['a connection that breaks', 'reset'],
  ['a connection that is refused', 'refused'],
  ['no answer in time', 'silent'],
  ['a body that stands still', 'stalled'],
  ['a body that is cut off', 'truncated'],
  ['a 500', error(500, 'application_error')],
  ['the page of a proxy', page],
  ['a 503 service_unavailable', error(503, 'service_unavailable')],
  ['a 504', { status: 504, body: '' }],
] as [string, Step][]) {
  t.test(`${what} is tried again with the same key and the same bytes`, async (t) => {
    const { options, seen, waits } = scripted([step, step, good])
    const sent = await new Posthorn(options).emails.send(mail)
    t.equal(sent.id, 'x')
    t.equal(metaOf(sent)?.attempts, 3)
    t.equal(new Set(seen.map(({ headers }) => headers.get('idempotency-key'))).size, 1)
    t.match(seen[0]?.headers.get('idempotency-key'), /^[0-9a-f-]{36}$/)
    t.same(new Set(seen.map(({ body }) => body)), new Set([JSON.stringify(mail)]))
    t.same(waits, [250, 500], 'half of 0.5 s, then half of 1 s')
    t.ok(
      seen.every(({ alone }) => alone),
      'no attempt begins while another may go on',
    )
  })

  t.test(`${what} is tried again for a GET, a PATCH and a DELETE, without a key`, async (t) => {
    for (const ask of [
      (posthorn: Posthorn) => posthorn.emails.get('x'),
      (posthorn: Posthorn) => posthorn.topics.update('x', { name: 'N' }),
      (posthorn: Posthorn) => posthorn.emails.cancel('x'),
    ]) {
      const { options, seen } = scripted([step, good])
      await ask(new Posthorn(options))
      t.same(
        seen.map(({ headers }) => headers.get('idempotency-key')),
        [null, null],
      )
    }
  })
}

t.test('an earlier attempt that is still running is asked for again after a while', async (t) => {
  const running = error(409, 'concurrent_idempotent_request')
  const { options, seen, waits } = scripted(['silent', running, good])
  await new Posthorn(options).emails.send(mail)
  t.same(waits, [250, 1_250])
  t.ok(seen[0]?.signal.aborted, 'the attempt that had no answer was aborted before the next')
})

t.test('a rate limit is waited for as long as it says, if that is not too long', async (t) => {
  const limited = (after: string): Step => ({
    status: 429,
    body: { code: 'rate_limit_exceeded', error: 'Too many requests' },
    headers: { 'retry-after': after },
  })
  const seconds = scripted([limited('7'), good])
  await new Posthorn(seconds.options).emails.send(mail)
  t.same(seconds.waits, [7_000])
  const date = scripted([limited('Sun, 22 Nov 2026 12:00:11 GMT'), good])
  await new Posthorn(date.options).emails.send(mail)
  t.same(date.waits, [11_000])

  const hour = scripted([limited('3600')])
  const thrown = await new Posthorn(hour.options).broadcasts.list().then(undefined, (e) => e)
  t.type(thrown, RateLimitError)
  t.match(thrown, { retryAfter: 3_600, retryable: true, attempts: 1 })
})

for (const [step, kind, fields] of [
  [
    error(503, 'account_paused', { reason: 'bounce' }),
    AccountPausedError,
    { scope: 'all', reason: 'bounce' },
  ],
  [error(403, 'account_paused'), AccountPausedError, { scope: 'marketing' }],
  [
    error(402, 'monthly_quota_exceeded', { limit: 3, used: 2 }),
    QuotaError,
    { period: 'monthly', limit: 3, used: 2 },
  ],
  [
    error(429, 'daily_quota_exceeded', { dailyLimit: 3, dailySent: 2, resetsAt: 'T' }),
    QuotaError,
    { period: 'daily', limit: 3, used: 2, resetsAt: 'T' },
  ],
  [error(402, 'monthly_quota_exceeded', { canSend: 5 }), QuotaError, { canSend: 5 }],
  [error(401, 'invalid_api_key'), AuthenticationError, { status: 401 }],
  [error(403, 'subscription_expired'), PermissionError, {}],
  [error(402, 'marketing_subscription_required'), PermissionError, {}],
  [error(404, 'not_found'), NotFoundError, { message: 'It is not_found' }],
  [error(409, 'invalid_idempotent_request'), ConflictError, {}],
  [error(409, 'conflict'), ConflictError, {}],
  [error(415, 'unsupported_media_type'), ValidationError, {}],
  [error(422, 'validation_error'), ValidationError, { code: 'validation_error', errors: [] }],
  [error(400, 'domain_not_verified'), ValidationError, { code: 'domain_not_verified' }],
  [
    {
      status: 400,
      body: {
        success: false,
        error: { name: 'StructError', issues: [{ path: ['to', '0'], message: 'Expected' }] },
      },
    },
    ValidationError,
    { code: 'validation_error', field: 'to.0', message: 'to.0: Expected' },
  ],
  [{ status: 408, body: { code: 'validation_error', error: 'Too slow' } }, ValidationError, {}],
  [
    { status: 302, headers: { location: 'https://other.test/' } },
    PosthornError,
    { message: 'The server redirects to https://other.test/: set url to where the appliance is' },
  ],
] as [Exclude<Step, string>, typeof PosthornError, object][]) {
  t.test(`${step.status} ${JSON.stringify(fields)} is never tried again`, async (t) => {
    const { options, seen } = scripted([step])
    const thrown = await new Posthorn(options).emails.send(mail).then(undefined, (e) => e)
    t.type(thrown, kind)
    t.match(thrown, { ...fields, retryable: false, attempts: 1 })
    t.equal(seen.length, 1)
  })
}

t.test('an import is never tried again, and says how much of it is in', async (t) => {
  const file = () => new Blob(['email\nann@example.org\n'])
  for (const step of ['reset', 'silent', error(503, 'service_unavailable')] as Step[]) {
    const { options, seen } = scripted([step])
    const thrown = await new Posthorn(options).contacts
      .import('x', file(), {}, { timeout: 30_000 })
      .then(undefined, (e) => e)
    t.equal(thrown.name, typeof step === 'string' ? 'ImportInterrupted' : 'ServerError')
    t.equal(seen.length, 1)
  }
  const counted = scripted([error(400, 'validation_error', { imported: 400, line: 7 })])
  const thrown = await new Posthorn(counted.options).contacts.import('x', file()).catch((e) => e)
  t.type(thrown, ImportInterrupted)
  t.match(thrown, { imported: 400, code: 'validation_error', message: /400 are in: It is/ })
})

t.test('it gives up after three more attempts, or when time is up, and says why', async (t) => {
  const broken = scripted(['reset', 'reset', 'reset', 'reset'])
  const thrown = await new Posthorn(broken.options).emails.send(mail).catch((e) => e)
  t.type(thrown, ConnectionError)
  t.match(thrown, { phase: 'request', attempts: 4, status: 0, code: 'connection_failed' })
  t.match(thrown.message, /before the answer \(tried 4 times\): other side closed/)
  t.match(thrown.cause, { cause: { code: 'UND_ERR_SOCKET' } }, 'the fault of the network is kept')
  t.same(broken.waits, [250, 500, 1_000])

  const refused = scripted(['refused'])
  t.match(await new Posthorn({ ...refused.options, retries: 0 }).emails.get('x').catch((e) => e), {
    name: 'ConnectionError',
    phase: 'connect',
  })
  const slow = scripted(['silent', 'silent', 'silent', 'silent', good])
  const late = await new Posthorn({ ...slow.options, maxElapsed: 70_000 }).emails
    .send(mail)
    .catch((e) => e)
  t.type(late, TimeoutError)
  t.equal(slow.seen.length, 3, 'a fourth would begin after 90 s')
  const html = scripted([page, page])
  const answered = await new Posthorn(html.options).emails.get('x', { retries: 1 }).catch((e) => e)
  t.type(answered, ServerError)
  t.match(answered, { status: 502, code: 'http_502', message: /answered 502, not as Posthorn/ })
  t.equal(answered.body.length, 200, 'with the beginning of the page')
})

t.test("the caller's abort ends it in every phase, and is thrown as it is", async (t) => {
  const reason = new Error('enough')
  const before = scripted([])
  const aborted = AbortSignal.abort(reason)
  t.equal(
    await new Posthorn(before.options).emails.send(mail, { signal: aborted }).catch((e) => e),
    reason,
  )
  t.equal(before.seen.length, 0, 'nothing was sent')
  for (const phase of ['request', 'body', 'wait'] as const) {
    const cut = new AbortController()
    const { options, seen } = scripted([phase === 'wait' ? 'reset' : good])
    const fetch = async (url: string, init: RequestInit) => {
      if (phase === 'wait') return options.fetch?.(url, init) as Promise<Response>
      seen.push({} as never)
      const never = new Promise<never>((_, reject) =>
        init.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
      )
      queueMicrotask(() => cut.abort(reason))
      if (phase === 'request') return never
      return new Response(new ReadableStream({ pull: () => never }))
    }
    const clock = {
      now: () => 0,
      sleep: (ms: number, signal?: AbortSignal) =>
        new Promise<void>((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason))
          if (ms === 250) cut.abort(reason)
        }),
    }
    const posthorn = new Posthorn({ ...options, fetch, clock })
    const thrown = await posthorn.emails.send(mail, { signal: cut.signal }).catch((e) => e)
    t.equal(thrown, reason, phase)
    t.equal(seen.length, 1, 'and it is not tried again')
  }
})

t.test('the key is given anew for each attempt, and stands in no text', async (t) => {
  const keys = ['ph_first', 'ph_second']
  const told: unknown[] = []
  const { options, seen } = scripted(['reset', error(401, 'invalid_api_key')])
  const posthorn = new Posthorn({
    ...options,
    apiKey: async () => keys.shift(),
    onRequest: (request) => told.push(request),
    onResponse: (response) => told.push(response),
  })
  const thrown = await posthorn.emails
    .send(mail, { idempotencyKey: 'order-1', headers: { 'x-trace': '7' } })
    .catch((e) => e)
  t.same(
    seen.map(({ headers }) => headers.get('authorization')),
    ['Bearer ph_first', 'Bearer ph_second'],
  )
  t.equal(seen[0]?.headers.get('idempotency-key'), 'order-1')
  t.equal(seen[0]?.headers.get('x-trace'), '7')
  t.match(seen[0]?.headers.get('user-agent'), /^posthorn-client\/\d+\.\d+\.\d+ node\/\d+$/)
  t.match(told, [{ attempt: 1 }, { status: 0 }, { attempt: 2 }, { status: 401 }])
  const secret = new Posthorn({ url: 'http://posthorn.test/v1/', apiKey: 'ph_secret' })
  t.equal(inspect(secret), 'Posthorn(http://posthorn.test)')
  t.equal(
    `${secret} ${JSON.stringify(secret)}`,
    'Posthorn(http://posthorn.test) {"url":"http://posthorn.test"}',
  )
  for (const shown of [secret, thrown, told]) {
    t.notMatch(inspect(shown, { depth: 9, showHidden: true }), /ph_(first|second|secret)/)
  }
})

t.test('errors are told apart by their code, with the fields of their bodies', async (t) => {
  const { options } = scripted([
    error(400, 'domain_not_verified', { domain: 'd.test', verifiedDomains: [] }),
  ])
  const thrown: unknown = await new Posthorn(options).emails.send(mail).catch((e) => e)
  if (!isPosthornError(thrown, 'domain_not_verified')) throw thrown
  t.equal(thrown.body.domain, 'd.test')
  t.notOk(isPosthornError(thrown, 'not_found'))
  t.notOk(isPosthornError(new Error('other')))
})

t.test('with pace it waits for the window instead of running into the limit', async (t) => {
  const now = Date.parse('2026-11-22T12:00:00Z') / 1_000
  const left = (remaining: number): Step => ({
    status: 200,
    body: { plans: [] },
    headers: {
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-reset': String(now + 20),
    },
  })
  const { options, waits } = scripted([left(1), left(0), left(99), left(98)])
  const posthorn = new Posthorn({ ...options, pace: 'wait' })
  const plans = await posthorn.plans.list()
  t.same(metaOf(plans)?.rateLimit, { limit: 100, remaining: 1, reset: now + 20 })
  await posthorn.plans.list()
  t.same(waits, [], 'one was left')
  await posthorn.plans.list()
  t.same(waits, [20_000])
  await posthorn.plans.list()
  t.same(waits, [20_000])
})

t.test('what cannot be right is refused before anything is sent', async (t) => {
  const { options, seen } = scripted([])
  t.throws(() => new Posthorn({ url: 'ftp://posthorn.test' }), /http: or https:/)
  t.throws(() => new Posthorn({ url: 'https://me:pw@posthorn.test' }), /without a user/)
  t.throws(() => new Posthorn(), /needs url, or POSTHORN_URL/)
  await t.rejects(new Posthorn(options).emails.get(''), /id is missing/)
  t.equal(seen.length, 0)
})
