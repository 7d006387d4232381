// What a client has got wrong, or should know, is said by name.
import t from 'tap'
import { setMarketingPlan } from '../../src/billing/index.js'
import { jsonOf } from '../cli/run.js'
import { openAutomations } from '../support/automation-appliance.js'
import { send, trigger } from '../support/automation-rig.js'

const steps = [trigger('e'), { key: 'end', type: 'exit' }]
const connections = [{ from: 'start', to: 'end', type: 'default' }]

t.test('what would be lost in silence is refused by its name', async (t) => {
  const rig = await openAutomations(t)
  const { call, posthorn } = rig
  const given = { name: 'Welcome', steps, connections }
  const misspelt = { ...given, settings: { maxPerHours: 5 } }
  t.match(await call('POST', '/v1/automations', misspelt), {
    status: 422,
    json: { code: 'validation_error', errors: [{ error: /maxPerHours/ }] },
  })
  const id = await rig.create('Welcome', steps)
  // What GET answers can be sent back, as can what a newer client knows.
  const { json } = await call('GET', `/v1/automations/${id}`)
  const change = await call('PATCH', `/v1/automations/${id}`, { ...json, name: 'Hi', newer: 1 })
  t.match(change, { status: 200, json: { name: 'Hi' } })

  const huge = (name: string) =>
    JSON.stringify({
      ...given,
      steps: [
        trigger('e'),
        { key: 'note', type: 'contact_update', config: { metadata: { deep: [{ n: name }] } } },
      ],
      connections: [{ from: 'start', to: 'note', type: 'default' }],
    })
  const post = async (body: string) =>
    await posthorn.call('POST', '/v1/automations', {
      body: Buffer.from(body),
      headers: { 'content-type': 'application/json' },
    })
  t.match(await post(huge('N').replace('"N"', '-1e999')), {
    status: 422,
    json: { errors: [{ key: 'note', error: /^config\.metadata\.deep\[0\]\.n: numbers beyond/ }] },
  })
  t.match(await post(huge('N').replace('"N"', '9007199254740991')), { status: 201 })
  // Read as another number each, which nobody could see afterwards.
  t.match(await post(huge('N').replace('"N"', '9007199254740993')), { status: 422 })
  const payload =
    '{"event":"e","email":"ann@example.com","payload":{"order":{"ids":[1,12345678901234567890]}}}'
  const about = /^payload\.order\.ids\[1\]: numbers beyond 9007199254740991 .* send it as text/
  const sent = async (path: string, body: string) =>
    await posthorn.call('POST', path, {
      body: Buffer.from(body),
      headers: { 'content-type': 'application/json' },
    })
  t.match(await sent('/v1/events/send', payload), { status: 422, json: { error: about } })
  t.match(await sent('/v1/events/batch', `{"events":[${payload}]}`), {
    status: 422,
    json: { errors: [{ index: 0, error: about }] },
  })
  t.match(await sent(`/v1/automations/${id}/simulate`, payload), {
    status: 422,
    json: { error: about },
  })

  // As other APIs call our fields; what nobody knows may come from a newer client.
  const event = { event: 'e', email: 'ann@example.com' }
  const refused = async (field: object) =>
    await call('POST', '/v1/events/send', { ...event, ...field })
  for (const [field, remedy] of [
    [{ properties: { plan: 'pro' } }, 'write payload in its place'],
    [{ occurred_at: '2026-01-01T00:00:00Z' }, 'write occurredAt in its place'],
    [{ idempotencyKey: 'k' }, 'send the header Idempotency-Key'],
  ] as const) {
    const [path = ''] = Object.keys(field)
    const message = `This field is not supported: ${remedy}`
    const issue = { code: 'unrecognized_key', path: [path], message }
    t.match(await refused(field), { status: 400, json: { error: { issues: [issue] } } })
  }
  t.match(await refused({ newer: 1, data: null }), { status: 202 })
  t.match(await call('POST', '/v1/events/batch', { events: [{ ...event, data: {} }] }), {
    status: 422,
    json: { errors: [{ index: 0, error: /^data: .* write payload/ }] },
  })
})

t.test('an event is not of the future, but a clock may be a little ahead', async (t) => {
  const rig = await openAutomations(t)
  await rig.enabled('Welcome', steps)
  const event = (ms: number) =>
    rig.call('POST', '/v1/events/send', {
      event: 'e',
      email: 'ann@example.com',
      occurredAt: new Date(Date.now() + ms).toISOString(),
    })
  t.match(await event(3_600_000), {
    status: 422,
    json: { code: 'validation_error', error: /^occurredAt is in the future/ },
  })
  const rows = await rig.store.read.selectFrom('contacts').select('id').execute()
  t.same(rows, [], 'nobody has become a contact by it')
  t.match(await event(60_000), { status: 202, json: { started: 1 } })
})

t.test('enabling says what will fail, and the way on without a plan', async (t) => {
  const rig = await openAutomations(t)
  const { call, store, accountId } = rig
  await rig.template('hello', { html: '<p>{{ trigger.name }} {{ surname }}</p>' })
  const id = await rig.create('Welcome', [trigger('e'), send('mail')])
  const { marketing } = rig.plans
  await store.write((tx) => setMarketingPlan(tx, accountId, null))
  t.match(await call('POST', `/v1/automations/${id}/enable`), {
    status: 402,
    json: {
      code: 'marketing_subscription_required',
      upgrade: 'marketing',
      error: /steps that send it: "mail"\. Ask the operator for a marketing plan/,
    },
  })
  await store.write((tx) => setMarketingPlan(tx, accountId, marketing[0] ?? null))
  const lacks = { key: 'mail', error: /needs "surname", which this step does not know/ }
  for (const _ of ['first', 'again']) {
    t.match(await call('POST', `/v1/automations/${id}/enable`), {
      status: 200,
      json: { id, status: 'enabled', warnings: [lacks] },
    })
  }

  // Who waits for bounces hears that most end the run.
  const wait = { key: 'lost', type: 'wait_for_event', config: { eventName: '$email.bounced' } }
  const bounces = await rig.create('Bounces', [trigger('e'), wait], {
    connections: [{ from: 'start', to: 'lost', type: 'default' }],
  })
  const other = await rig.create('Bounced', [
    trigger('$email.bounced'),
    { key: 'end', type: 'exit' },
  ])
  t.match((await call('GET', `/v1/automations/${bounces}`)).json.warnings, [
    { key: 'lost', error: /ends the contact's runs/ },
  ])
  t.match((await call('POST', `/v1/automations/${other}/enable`)).json.warnings, [
    { key: 'start', error: /starts no run/ },
  ])
})

t.test('who deletes a domain hears which automations send from it', async (t) => {
  const rig = await openAutomations(t)
  const { call, until } = rig
  await rig.template('hello')
  const id = await rig.create('Welcome', [trigger('e'), send('mail')])
  const idle = await rig.create('Idle', [trigger('e'), send('mail')])
  const { domains } = (await call('GET', '/v1/domains')).json
  const domain = domains.find(({ name }: { name: string }) => name === 'sender.test')
  await call('POST', `/v1/automations/${id}/enable`)
  const { status, json } = await call('DELETE', `/v1/domains/${domain.id}`)
  t.equal(status, 200, JSON.stringify(json))
  t.same(json.automations, [{ id, name: 'Welcome' }], `and not ${idle}`)
  t.match(json.message, /runs of automations that send from it wait until it is added/)
  const event = { event: 'e', email: 'ann@example.com' }
  const { runId } = (await call('POST', '/v1/events/send', event)).json.automations[0]
  await until('it waits for the domain', async () => {
    const { waitingFor } = await rig.run(runId)
    return waitingFor?.kind === 'domain' ? true : undefined
  })
})

t.test(
  'commands answer what the API answers, and are the same deeds in the audit log',
  async (t) => {
    const { call, create, event, store, posthorn, until } = await openAutomations(t)
    const waits = [trigger('e'), { key: 'later', type: 'delay', config: { duration: 'P9D' } }]
    const id = await create('Welcome', waits)
    const cli = (...words: string[]) =>
      jsonOf(t, ['automation', ...words, '--data', posthorn.dataDir])
    const asked = async (method: string, path: string) =>
      (await call(method, `/v1/automations${path}`)).json
    t.same(await cli('enable', id), await asked('POST', `/${id}/enable`))
    const { runId } = (await event({ event: 'e', email: 'ann@example.com' })).automations[0]
    // Otherwise it may begin to wait between a command and the API's answer.
    await until('the run waits', async () => {
      const { runs } = await asked('GET', `/${id}`)
      return runs.waiting === 1 ? true : undefined
    })
    t.same(await cli('list'), await asked('GET', ''))
    t.same(await cli('runs', id), await asked('GET', `/${id}/runs`))
    t.same(await cli('why', runId), await asked('GET', `/runs/${runId}`))
    t.match(await cli('show', id), await asked('GET', `/${id}`))
    t.same(await cli('disable', id), await asked('POST', `/${id}/disable`))
    t.same(await cli('archive', id, '--yes'), await asked('POST', `/${id}/archive`))
    const rows = await store.read.selectFrom('audit_log').select(['actor', 'action']).execute()
    const deeds = (by: string) =>
      rows.filter(({ actor }) => actor === by).map(({ action }) => action)
    const changes = ['automation.enable', 'automation.disable', 'automation.archive']
    t.same(deeds('cli'), changes)
    t.same(deeds('api'), ['automation.create', ...changes])
  },
)

t.test(
  'a dry run changes nothing, and a name that is none is refused where it would do it',
  async (t) => {
    const rig = await openAutomations(t)
    const { call } = rig
    const wait = { key: 'wait', type: 'delay', config: { duration: 'P1D' } }
    const id = await rig.enabled('Welcome', [trigger('e'), wait])
    for (const n of [1, 2, 3]) await rig.event({ event: 'e', email: `p${n}@example.com` })
    const at = `/v1/automations/${id}`
    t.match(await call('POST', `${at}/cancel`, { dryRun: true }), {
      status: 200,
      json: { dryRun: true, total: 3, message: 'Nothing was cancelled: 3 runs fit' },
    })
    t.match(await call('GET', `${at}/cancel`), { status: 404 })
    t.match(await call('POST', `${at}/pause`, { dryRun: true }), {
      status: 200,
      json: { dryRun: true, pausedAt: null, message: /3 runs would take no step/ },
    })
    t.match(await call('GET', `${at}/standing`), { json: { pausedAt: null } })
    for (const [verb, body] of [
      ['cancel', {}],
      ['pause', {}],
      ['resume', {}],
      ['move', {}],
      ['move', { only: { steps: 'wait' }, dryRun: true }],
      ['start', { listId: id }],
    ] as const) {
      const asked = 'only' in body ? body : { ...body, dry_run: true }
      const refused = await call('POST', `${at}/${verb}`, asked)
      t.match(String(refused.status), /^4(00|22)$/, verb)
      t.match(JSON.stringify(refused.json), /dry_run|steps/)
    }
    t.match(await call('GET', `${at}/cancel`), { status: 404 })
    t.match(await call('POST', `${at}/pause`), { json: { dryRun: false, pausedAt: String } })
  },
)

t.test(
  'a draft that is none is neither put in force nor thrown away; an old revision is told as one',
  async (t) => {
    const rig = await openAutomations(t)
    const { call } = rig
    const at = `/v1/automations/${await rig.enabled('Welcome', steps)}/draft`
    const none = { status: 404, json: { code: 'not_found', error: /no draft/ } }
    t.match(await call('POST', `${at}/enable`, {}), none)
    t.match(await call('DELETE', at), none)
    const { revision } = (await call('GET', at)).json
    t.match(await call('PATCH', at, { name: 'Hello', revision }), { status: 200 })
    const stale = await call('PATCH', at, { name: 'Hi', revision })
    t.match(stale, {
      status: 409,
      json: { error: /changed since this revision: read the draft anew/ },
    })
    t.match(await call('POST', `${at}/enable`, {}), { status: 200 })
  },
)
