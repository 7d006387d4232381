import type { Test } from 'tap'
import type { FakeClock } from './clock.js'
import type { Answer, CallOptions, Posthorn } from './posthorn.js'

/*
 * For the test of the OpenAPI document: the endpoints for what pages and commands can also do. Each of their answers
 * has to occur once.
 */
const nobody = '01900000-0000-7000-8000-000000000000'

/** A request to each endpoint that would do something if it were let through. */
export const management: Record<string, object | undefined> = {
  [`PATCH /v1/contacts/lists/${nobody}`]: { name: 'Renamed' },
  [`GET /v1/broadcasts/${nobody}/recipients`]: undefined,
  [`GET /v1/broadcasts/${nobody}/report`]: undefined,

  'GET /v1/suppressions': undefined,
  'POST /v1/suppressions': { email: 'gone@x.test', detail: 'by phone' },
  'POST /v1/suppressions/import': { suppressions: [{ email: 'one@x.test' }, { email: 'two' }] },
  'GET /v1/suppressions/gone@x.test': undefined,
  'DELETE /v1/suppressions/nobody@x.test': undefined,

  'GET /v1/templates': undefined,
  'POST /v1/templates': { slug: 'new', subject: 'Hi {{ name }}', html: '<p>{{ name }}</p>' },
  'GET /v1/templates/none': undefined,
  'PATCH /v1/templates/none': { subject: 'Hello' },
  'DELETE /v1/templates/none': undefined,
  'POST /v1/templates/none/render': { variables: { name: 'Ann' } },
  'GET /v1/templates/none/versions': undefined,
  'GET /v1/templates/none/versions/1': undefined,
  'POST /v1/templates/none/versions/1/restore': undefined,

  'GET /v1/webhooks': undefined,
  'POST /v1/webhooks': { url: 'https://127.0.0.1:1/hooks', events: ['email.bounced'] },
  [`GET /v1/webhooks/${nobody}`]: undefined,
  [`PATCH /v1/webhooks/${nobody}`]: { enabled: true },
  [`DELETE /v1/webhooks/${nobody}`]: undefined,
  [`POST /v1/webhooks/${nobody}/rotate`]: { overlapSeconds: 60 },
  [`POST /v1/webhooks/${nobody}/test`]: undefined,
  [`GET /v1/webhooks/${nobody}/deliveries`]: undefined,
  [`POST /v1/webhooks/${nobody}/deliveries/1/replay`]: undefined,
  [`POST /v1/webhooks/${nobody}/deliveries/replay`]: { from: 1, to: 2 },
  [`POST /v1/webhooks/${nobody}/replay`]: undefined,

  'GET /v1/keys': undefined,
  'POST /v1/keys': { name: 'A key' },
  [`GET /v1/keys/${nobody}`]: undefined,
  [`PATCH /v1/keys/${nobody}`]: { name: 'Another' },
  [`DELETE /v1/keys/${nobody}`]: undefined,

  'GET /v1/domains': undefined,
  'POST /v1/domains': { name: 'new.test' },
  [`GET /v1/domains/${nobody}`]: undefined,
  [`GET /v1/domains/${nobody}/dmarc`]: undefined,
  [`PATCH /v1/domains/${nobody}`]: { trackOpens: 'off' },
  [`POST /v1/domains/${nobody}/verify`]: undefined,
  [`POST /v1/domains/${nobody}/rotate`]: { atOnce: true },
  [`DELETE /v1/domains/${nobody}`]: undefined,

  'GET /v1/receiving/rules': undefined,
  'POST /v1/receiving/rules': { pattern: '*@in.sender.test', action: 'store' },
  [`GET /v1/receiving/rules/${nobody}`]: undefined,
  [`PATCH /v1/receiving/rules/${nobody}`]: { enabled: false },
  [`DELETE /v1/receiving/rules/${nobody}`]: undefined,
  'GET /v1/receiving/usage': undefined,
  'GET /v1/receiving/where?address=a%40sender.test': undefined,
  'GET /v1/received': undefined,
  [`GET /v1/received/${nobody}`]: undefined,
  [`GET /v1/received/${nobody}/attachments/1`]: undefined,
  [`GET /v1/received/${nobody}/raw`]: undefined,
  [`DELETE /v1/received/${nobody}`]: undefined,
  'GET /v1/surges': undefined,
  [`GET /v1/surges/${nobody}`]: undefined,
  [`POST /v1/surges/${nobody}/release`]: undefined,
  [`POST /v1/surges/${nobody}/fail`]: undefined,
}

interface Given {
  body?: object
}

/** A request that succeeds each time it is made. */
export async function managementAnew(
  posthorn: Posthorn,
  one: string,
  round: number,
): Promise<[one: string, given: Given]> {
  if (one.includes('/templates')) return await templateAnew(posthorn, one, round)
  if (one.includes('/webhooks/')) return await webhookAnew(posthorn, one)
  if (one === 'POST /v1/domains') return [one, { body: { name: `round${round}.test` } }]
  if (one.includes('/domains/')) {
    const given = one.endsWith('/rotate') ? { body: { atOnce: true } } : {}
    return [one.replace(nobody, await domainOf(posthorn)), given]
  }
  if (one.includes('/surges/')) return [one.replace(nobody, await surgeOf(posthorn)), {}]
  return [one, {}]
}

async function templateAnew(
  posthorn: Posthorn,
  one: string,
  round: number,
): Promise<[one: string, given: Given]> {
  const body = { slug: `round${round}`, subject: 'x', html: 'x' }
  if (one === 'POST /v1/templates') return [one, { body }]
  await posthorn.call('POST', '/v1/templates', { body: { ...body, slug: 'kept' } })
  const given = one.endsWith('render') ? { body: { variables: { name: 'Ann' } } } : {}
  return [one.replace('/none', '/kept'), given]
}

async function webhookAnew(posthorn: Posthorn, one: string): Promise<[one: string, given: Given]> {
  const body = management['POST /v1/webhooks']
  const { id } = (await posthorn.call('POST', '/v1/webhooks', { body: body ?? {} })).json
  const sent = /rotate$|deliveries\/replay$/.test(one) ? management[one] : undefined
  const given = sent === undefined ? {} : { body: sent }
  const delivery = one.includes('/deliveries/') ? await deliveryTo(posthorn, id) : 1
  return [one.replace(nobody, id).replace('/1/', `/${delivery}/`), given]
}

let deliveries = 0

/** A delivery that has failed. */
async function deliveryTo({ store, accountId }: Posthorn, endpointId: string): Promise<number> {
  const id = 1_000_000 + deliveries++
  await store.write((tx) =>
    tx
      .insertInto('webhook_deliveries')
      .values({
        id,
        endpoint_id: endpointId,
        account_id: accountId,
        email_id: nobody,
        event: 'email.sent',
        body: '{"event":"email.sent"}',
        outcome: 'failed',
        attempts: 5,
        status: 500,
        response: 'no',
        error: 'HTTP 500',
        created_at: 1,
        ended_at: 2,
      })
      .execute(),
  )
  return id
}

/** A surge of another key about which nobody has decided. */
export async function surgeOf(
  { store, accountId }: Pick<Posthorn, 'store' | 'accountId'>,
  { keyId = nobody, beganAt = Date.now() + 1_000 } = {},
): Promise<string> {
  const id = store.ids.uuid()
  const row = { usual: 1, most: 10, mails: 11, held: 2, announced: 1 }
  await store.write((tx) =>
    tx
      .insertInto('surges')
      .values({
        ...row,
        id,
        account_id: accountId,
        began_at: beganAt,
        sources: JSON.stringify([{ keyId, address: '192.0.2.1', mails: 2 }]),
        decision: null,
        decided_at: null,
        decided_by: null,
        ended_at: null,
      })
      .execute(),
  )
  return id
}

async function surgeAnswers(t: Test, { answers, clock, posthorn }: Deps): Promise<void> {
  const beganAt = clock.now() + 1_000
  const at = `/v1/surges/${await surgeOf(posthorn, { beganAt })}`
  await answers(t, 'GET /v1/surges', {}, 200)
  await answers(t, `GET ${at}`, {}, 200)
  await answers(t, `POST ${at}/release`, {}, 200)
  await answers(t, `POST ${at}/release`, {}, 409, 'conflict')
  const other = `/v1/surges/${await surgeOf(posthorn, { beganAt })}`
  await answers(t, `POST ${other}/fail`, {}, 200)
  await answers(t, `POST ${other}/fail`, {}, 409, 'conflict')
  const early = `/v1/surges/${await surgeOf(posthorn, { beganAt: 1 })}`
  await answers(t, `POST ${early}/release`, {}, 403, 'forbidden')
}

async function domainOf(posthorn: Posthorn): Promise<string> {
  const { json } = await posthorn.call('GET', '/v1/domains')
  return json.domains.find((domain: { name: string }) => domain.name === 'sender.test').id
}

interface Deps {
  posthorn: Posthorn
  clock: FakeClock
  answers: (
    t: Test,
    one: string,
    given: CallOptions,
    status: number,
    code?: string,
  ) => Promise<Answer>
}

export async function managementAnswers(t: Test, deps: Deps): Promise<void> {
  await suppressionAnswers(t, deps)
  await templateAnswers(t, deps)
  await webhookAnswers(t, deps)
  await keyAnswers(t, deps)
  await domainAnswers(t, deps)
  await surgeAnswers(t, deps)
}

async function suppressionAnswers(t: Test, { answers }: Deps): Promise<void> {
  const adding = 'POST /v1/suppressions'
  const gone = 'gone2@x.test'
  await answers(t, adding, { body: { email: gone, reason: 'complaint' } }, 201)
  await answers(t, adding, { body: { email: gone, reason: 'complaint' } }, 200)
  await answers(t, adding, { body: { email: 'gone' } }, 422, 'validation_error')
  await answers(t, `${adding}/import`, {}, 200)
  await answers(t, 'GET /v1/suppressions?reason=complaint', {}, 200)
  await answers(t, 'GET /v1/suppressions?reason=boredom', {}, 400)
  await answers(t, 'GET /v1/suppressions?cursor=x', {}, 400, 'validation_error')
  await answers(t, `GET /v1/suppressions/${gone}`, {}, 200)
  await answers(t, 'GET /v1/suppressions/gone', {}, 404, 'not_found')
  const removing = `DELETE /v1/suppressions/${gone}`
  await answers(t, `${removing}?reason=boredom`, {}, 400)
  await answers(t, removing, {}, 200)
  await answers(t, removing, {}, 404, 'not_found')
}

async function templateAnswers(t: Test, { answers, posthorn }: Deps): Promise<void> {
  for (const one of Object.keys(management).filter((one) => one.includes('/templates/none'))) {
    const body = management[one]
    await answers(t, one, body === undefined ? {} : { body }, 404, 'not_found')
  }
  const making = 'POST /v1/templates'
  await answers(t, making, {}, 201)
  await answers(t, making, {}, 409, 'conflict')
  const at = '/v1/templates/new'
  for (const wrong of [{ html: ' ' }, { html: '{{' }]) {
    const body = { slug: 'bad', subject: 'x', ...wrong }
    await answers(t, making, { body }, 422, 'validation_error')
    await answers(t, `PATCH ${at}`, { body: wrong }, 422, 'validation_error')
  }
  for (const list of ['/v1/templates', `${at}/versions`]) {
    await answers(t, `GET ${list}`, {}, 200)
    await answers(t, `GET ${list}?limit=0`, {}, 400)
    await answers(t, `GET ${list}?cursor=x`, {}, 400, 'validation_error')
  }
  await answers(t, `GET ${at}`, {}, 200)
  await answers(t, `GET ${at}/versions/1`, {}, 200)
  await answers(t, `PATCH ${at}`, { body: { textBody: 'Hi {{ name }}' } }, 200)
  await answers(t, `POST ${at}/versions/1/restore`, {}, 200)
  await answers(t, `POST ${at}/render`, { body: { variables: { name: 'Ann' } } }, 200)
  await answers(t, `POST ${at}/render`, { body: {} }, 422, 'validation_error')
  const steps = [
    { key: 'start', type: 'trigger', config: { eventName: 'joined' } },
    {
      key: 'mail',
      type: 'send_email',
      config: {
        template: 'new',
        from: 'a@sender.test',
        type: 'transactional',
        variables: { name: 'x' },
      },
    },
  ]
  const connections = [{ from: 'start', to: 'mail', type: 'default' }]
  const automation = { name: 'Uses it', steps, connections }
  const { json } = await answers(t, 'POST /v1/automations', { body: automation }, 201)
  await answers(t, `POST /v1/automations/${json.id}/enable`, {}, 200)
  const used = await answers(t, `PATCH ${at}`, { body: { subject: 'Used' } }, 200)
  t.match(used.json.automations, [{ id: json.id, liveRuns: 0 }])
  await answers(t, `DELETE ${at}`, {}, 409, 'conflict')
  await answers(t, `POST /v1/automations/${json.id}/archive`, {}, 200)
  await answers(t, `DELETE ${at}`, {}, 200)
  t.equal((await posthorn.call('GET', at)).status, 404)
}

async function webhookAnswers(t: Test, { answers, posthorn }: Deps): Promise<void> {
  const making = 'POST /v1/webhooks'
  const { json } = await answers(t, making, {}, 201)
  const bad = { body: { url: 'https://10.0.0.1/' } }
  await answers(t, making, bad, 422, 'validation_error')
  await answers(t, 'GET /v1/webhooks', {}, 200)
  const at = `/v1/webhooks/${json.id}`
  await answers(t, `GET ${at}`, {}, 200)
  await answers(t, `PATCH ${at}`, { body: { events: ['email.sent'] } }, 200)
  await answers(t, `PATCH ${at}`, bad, 422, 'validation_error')
  await answers(t, `POST ${at}/rotate`, { body: { overlapSeconds: 60 } }, 200)
  await answers(t, `POST ${at}/test`, {}, 200)
  const delivery = await deliveryTo(posthorn, json.id)
  const replaying = `POST ${at}/deliveries/${delivery}/replay`
  await answers(t, `GET ${at}/deliveries?failed=true`, {}, 200)
  await answers(t, `GET ${at}/deliveries?failed=maybe`, {}, 400)
  await answers(t, `GET ${at}/deliveries?cursor=x`, {}, 400, 'validation_error')
  await answers(t, replaying, {}, 200)
  await answers(t, `POST ${at}/replay`, {}, 200)
  await answers(t, `PATCH ${at}`, { body: { enabled: false } }, 200)
  await answers(t, replaying, {}, 409, 'conflict')
  await answers(t, `POST ${at}/replay`, {}, 409, 'conflict')
  await answers(t, `DELETE ${at}`, {}, 200)
}

async function keyAnswers(t: Test, { answers, clock, posthorn }: Deps): Promise<void> {
  const networks = ['127.0.0.0/8']
  const body = { name: 'Limited', networks }
  const made = (await answers(t, 'POST /v1/keys', { body }, 201)).json
  await answers(t, 'GET /v1/keys', {}, 200)
  const at = `/v1/keys/${made.id}`
  await answers(t, `GET ${at}`, {}, 200)
  await answers(t, `PATCH ${at}`, { body: { name: 'Printer', scope: 'sending' } }, 200)
  await answers(t, `PATCH ${at}`, { body: { scope: 'full', expiresAt: 'never' } }, 200)
  for (const wrong of [{ networks: ['x'] }, { expiresAt: new Date(clock.now()).toISOString() }]) {
    await answers(t, `PATCH ${at}`, { body: wrong }, 422, 'validation_error')
    const given = { body: { name: 'x', ...wrong } }
    await answers(t, 'POST /v1/keys', given, 422, 'validation_error')
  }
  const { key } = made
  await answers(t, 'POST /v1/keys', { key, body: { name: 'x' } }, 403, 'forbidden')
  await answers(t, `PATCH ${at}`, { key, body: { networks: 'any' } }, 403, 'forbidden')
  const { apiKey: alone } = await posthorn.addAccount('Alone')
  const [only] = (await answers(t, 'GET /v1/keys', { key: alone }, 200)).json.keys
  const last = { key: alone, body: { scope: 'read' } }
  await answers(t, `PATCH /v1/keys/${only.id}`, last, 409, 'conflict')
  await answers(t, `DELETE /v1/keys/${only.id}`, { key: alone }, 409, 'conflict')
  t.equal((await posthorn.call('GET', at, { key: alone })).status, 404, 'of another account')
  await answers(t, `DELETE ${at}`, {}, 200)
}

async function domainAnswers(t: Test, { answers, posthorn }: Deps): Promise<void> {
  const { json } = await answers(t, 'POST /v1/domains', {}, 201)
  await answers(t, 'POST /v1/domains', {}, 409, 'conflict')
  const nothing = { body: { name: 'localhost' } }
  await answers(t, 'POST /v1/domains', nothing, 422, 'validation_error')
  await answers(t, 'GET /v1/domains', {}, 200)
  const at = `/v1/domains/${json.id}`
  await answers(t, `GET ${at}`, {}, 200)
  await answers(t, `PATCH ${at}`, { body: { trackingHost: 'links.new.test' } }, 200)
  await answers(t, `PATCH ${at}`, { body: { trackingHost: 'links' } }, 422, 'validation_error')
  await answers(t, `POST ${at}/verify`, {}, 200)
  await answers(t, `POST ${at}/rotate`, { body: {} }, 200)
  await answers(t, `POST ${at}/rotate`, { body: {} }, 409, 'conflict')
  await answers(t, `GET ${at}/dmarc?days=7`, {}, 200)
  await answers(t, `GET ${at}/dmarc?days=0`, {}, 400)
  await answers(t, `DELETE ${at}`, {}, 200)
  const used = await domainOf(posthorn)
  await answers(t, `DELETE /v1/domains/${used}`, {}, 409, 'conflict')
}
