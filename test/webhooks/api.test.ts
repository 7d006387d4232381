// Issue 'For developers' 2: webhooks by the API.
import { createHmac } from 'node:crypto'
import t from 'tap'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { openReceiver } from '../support/receiver.js'

t.setTimeout(120_000)

const receiver = await openReceiver(t)
const env = { POSTHORN_WEBHOOKS_ALLOW: '127.0.0.1' }
const posthorn = await startPosthorn(t, {
  env,
  dns: { 'inside.test': { a: ['10.0.0.9'] }, 'example.com': { a: ['93.184.215.14'] } },
})
const { call } = posthorn
const add = (body: object, key = posthorn.apiKey) => call('POST', '/v1/webhooks', { body, key })
const mail = { from: 'a@sender.test', to: 'b@x.test', subject: 'Hi', html: '<p>Hi</p>' }

t.test('an endpoint is told, by the secret that was shown once', async (t) => {
  const { status, json } = await add({ url: receiver.url, events: ['email.delivered'] })
  t.match({ status, json }, { status: 201, json: { enabled: true, secret: /^whsec_/ } })
  const at = `/v1/webhooks/${json.id}`
  t.notMatch((await call('GET', at)).text, 'whsec_')
  t.notMatch((await call('GET', '/v1/webhooks')).text, 'whsec_')

  const sent = await posthorn.send(mail)
  await receiver.until((received) => received.length === 1)
  const [got] = receiver.received
  const [time, signature] = String(got?.headers['svc-signature'])
    .split(/t=|,v1=/)
    .slice(1)
  const mac = createHmac('sha256', json.secret).update(`${time}.${got?.body}`).digest('hex')
  t.equal(signature, mac)
  const listed = await untilDelivered(at, 1)
  t.match(listed, [{ subjectId: sent.json.id, state: 'delivered', status: 200 }])
  t.match(listed[0], { payload: { event: 'email.delivered' }, nextAttemptAt: null })

  const again = await call('POST', `${at}/deliveries/${listed[0]?.id}/replay`)
  t.same(again.json, { queued: 1 })
  await receiver.until((received) => received.length === 2)
  t.equal(receiver.received[1]?.body, got?.body, 'the same bytes')

  const rotated = await call('POST', `${at}/rotate`, { body: { overlapSeconds: 600 } })
  t.match(rotated.json, { secret: /^whsec_/, oldSecretUntil: String })
  t.not(rotated.json.secret, json.secret)
  for (const headers of [
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json' },
  ]) {
    const bare = await call('POST', `${at}/rotate`, { body: '', headers })
    t.match(bare, { status: 200, json: { secret: /^whsec_/ } }, 'no body, and a day of overlap')
  }
  receiver.script = () => 418
  const tried = await call('POST', `${at}/test`)
  t.match(tried.json, { taken: false, status: 418, error: /HTTP 418/, payload: { to: [String] } })
  t.match(receiver.received.at(-1)?.headers['svc-signature'], /v1=.+,v1=/, 'both sign')
  receiver.script = () => 200
  t.match((await call('POST', `${at}/test`)).json, { taken: true, status: 200, error: null })

  const off = await call('PATCH', at, { body: { enabled: false } })
  t.match(off.json, { enabled: false, disabledBecause: 'by the account', disabledAt: String })
  t.match((await call('PATCH', at, { body: { enabled: true } })).json, { disabledAt: null })
  t.equal((await call('DELETE', at)).status, 200)
  t.equal((await call('GET', at)).status, 404)
})

async function untilDelivered(at: string, count: number) {
  for (;;) {
    const { deliveries } = (await call('GET', `${at}/deliveries`)).json
    const ended = deliveries.filter(({ state }: { state: string }) => state === 'delivered')
    if (ended.length >= count) return ended
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

t.test('deliveries come in pages: what waits first, each once', async (t) => {
  const { json } = await add({ url: receiver.url })
  const { store, accountId } = posthorn
  const common = {
    endpoint_id: json.id,
    account_id: accountId,
    email_id: json.id,
    event: 'email.sent',
    body: '{"a":1}',
    attempts: 1,
    created_at: 1,
  }
  await call('PATCH', `/v1/webhooks/${json.id}`, { body: { enabled: false } })
  await store.write(async (tx) => {
    for (let id = 1; id <= 5; id++) {
      const ended = { status: null, response: null, error: 'x', ended_at: 2 }
      const outcome = id % 2 === 0 ? 'failed' : 'delivered'
      await tx
        .insertInto('webhook_deliveries')
        .values({ ...common, ...ended, id: 5_000_000 + id, outcome })
        .execute()
    }
    await tx
      .insertInto('webhook_deliveries')
      .values({
        ...common,
        body: '{broken',
        id: 4_000_000,
        outcome: 'delivered',
        status: null,
        response: null,
        error: null,
        ended_at: 2,
      })
      .execute()
  })
  const all = async (query: string) => {
    const ids: number[] = []
    for (let cursor = ''; ; ) {
      const page = (await call('GET', `/v1/webhooks/${json.id}/deliveries?${query}${cursor}`)).json
      ids.push(...page.deliveries.map(({ id }: { id: number }) => id - 5_000_000))
      if (page.nextCursor === null) return ids
      cursor = `&cursor=${page.nextCursor}`
    }
  }
  t.same(await all('limit=2'), [5, 4, 3, 2, 1, -1_000_000])
  t.same(await all('limit=1&failed=true'), [4, 2])
  const range = { body: { from: 2, to: 4, failedOnly: true } }
  const ranged = await call('POST', `/v1/webhooks/${json.id}/deliveries/replay`, range)
  t.match(
    ranged,
    { status: 409, json: { error: /disabled/ } },
    'a range too goes to none that is disabled',
  )
  const first = (await call('GET', `/v1/webhooks/${json.id}/deliveries?limit=1`)).json
  const other = (await add({ url: receiver.url })).json
  for (const path of [
    `/v1/webhooks/${other.id}/deliveries?cursor=${first.nextCursor}`,
    `/v1/webhooks/${json.id}/deliveries?failed=1&cursor=${first.nextCursor}`,
    `/v1/templates?cursor=${first.nextCursor}`,
  ]) {
    t.equal((await call('GET', path)).status, 400, path)
  }
})

t.test('an address that nothing may go to is refused at once', async (t) => {
  const known = (await add({ url: receiver.url })).json
  for (const url of [
    'http://example.com/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://0x0a.1/',
    'https://inside.test/',
    'https://user:secret@example.com/',
    'https://example.com/#x',
    'ftp://example.com/',
    'example.com',
    '',
    `https://example.com/${'x'.repeat(2_100)}`,
  ]) {
    const answer = await add({ url })
    t.match(answer, { status: 422, json: { field: 'url' } }, url)
    const path = `/v1/webhooks/${known.id}`
    t.equal((await call('PATCH', path, { body: { url } })).status, 422, url)
  }
  t.equal((await call('GET', `/v1/webhooks/${known.id}`)).json.url, known.url)
  for (const events of [[], ['email.lost'], ['sent'], 'email.sent', [1]]) {
    const answer = await add({ url: receiver.url, events })
    t.equal(answer.status, 400, JSON.stringify(events))
  }
  const mixed = { url: receiver.url, events: ['email.opened', 'email.sent', 'email.opened'] }
  t.same((await add(mixed)).json.events, ['email.sent', 'email.opened'], 'once, and in order')
})

t.test("another account's endpoints do not exist, and trials are few", async (t) => {
  const { json } = await add({ url: receiver.url })
  const { apiKey: key } = await posthorn.addAccount('Stranger')
  const at = `/v1/webhooks/${json.id}`
  for (const [method, path, body] of [
    ['GET', at],
    ['PATCH', at, { enabled: false }],
    ['POST', `${at}/rotate`, {}],
    ['POST', `${at}/test`],
    ['GET', `${at}/deliveries`],
    ['POST', `${at}/deliveries/1/replay`],
    ['POST', `${at}/deliveries/replay`, { from: 1, to: 2 }],
    ['POST', `${at}/replay`],
    ['DELETE', at],
  ] as const) {
    const given = body === undefined ? {} : { body }
    t.equal((await call(method, path, { key, ...given })).status, 404, `${method} ${path}`)
  }
  for (const id of ['0', '-1', 'x', '99999999999999999999', '1.5']) {
    t.equal((await call('POST', `${at}/deliveries/${id}/replay`)).status, 404, id)
  }
  t.match((await call('GET', at)).json, { enabled: true })
  let answer = await call('POST', `${at}/test`)
  for (let n = 0; n < 12 && answer.status === 200; n++) answer = await call('POST', `${at}/test`)
  t.match(answer, { status: 429, json: { code: 'rate_limit_exceeded' } })
  const owner = await logIn(posthorn, posthorn.accountId, 'owner')
  const tried = await owner.post(`/a/${posthorn.accountId}/webhooks/${json.id}/test`)
  t.equal(tried.status, 429, 'its page counts with the API')
})

t.test('a repeat with the same Idempotency-Key tells no secret', async (t) => {
  const headers = { 'idempotency-key': 'hook' }
  const call = () => posthorn.call('POST', '/v1/webhooks', { headers, body: { url: receiver.url } })
  const [first, second] = [await call(), await call()]
  t.match(second, { status: 201, json: { id: first.json.id, secret: null } })
  const kept = await posthorn.store.read.selectFrom('idempotency_keys').select('response').execute()
  t.notMatch(JSON.stringify(kept), /whsec_/)
})
