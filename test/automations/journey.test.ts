// Issue 'Automations and events': each type of step, over HTTP, to the mail in the sandbox.
import t from 'tap'
import { openAutomations } from '../support/automation-appliance.js'

t.test('an event starts a run, its mail comes merged, and the run is completed', async (t) => {
  const rig = await openAutomations(t)
  await rig.template('welcome', {
    subject: 'Hello {{ contact.firstName | default: "you" }}',
    html: '<p>Plan {{ event.plan }}, {{ greeting }} &amp; {{ trigger.plan }}</p>',
  })
  const id = await rig.enabled('Welcome', [
    { key: 'start', type: 'trigger', config: { eventName: 'user.signup' } },
    {
      key: 'welcome',
      type: 'send_email',
      config: {
        template: 'welcome',
        from: 'Us <us@sender.test>',
        type: 'transactional',
        variables: { greeting: 'hi' },
        replyTo: ['a@b.test', 'Bob <b@b.test>'],
        headers: { 'X-Flow': 'welcome' },
        tags: [{ name: 'flow', value: 'welcome' }],
      },
    },
  ])
  const sent = await rig.event({
    event: 'user.signup',
    email: 'ann@example.com',
    payload: { plan: 'p<o' },
  })
  t.match(sent, { event: 'user.signup', contactCreated: true, started: 1, resumed: 0 })
  const [{ runId }] = sent.automations
  t.same(sent.automations, [{ automationId: id, name: 'Welcome', started: true, runId }])
  const run = await rig.ended(runId)
  t.match(run, { status: 'completed', reason: null, email: 'ann@example.com', waitingFor: null })
  t.match(run.why, /^completed at `welcome` on /)
  t.same(
    run.history.map(({ step, result }: { step: string; result: string }) => [step, result]),
    [
      ['start', 'started'],
      ['welcome', 'sent'],
    ],
  )
  const mail = await rig.mail(run.history[1].emailId)
  t.equal(mail.subject, 'Hello you')
  t.match(mail.html, /Plan p&lt;o, hi &amp; p&lt;o/)
  t.equal(mail.header('Reply-To'), 'a@b.test, Bob <b@b.test>')
  t.equal(mail.header('X-Flow'), 'welcome')
  t.match(await rig.posthorn.email(run.history[1].emailId), {
    replyTo: ['a@b.test', 'Bob <b@b.test>'],
    headers: { 'X-Flow': 'welcome' },
    tags: [{ name: 'flow', value: 'welcome' }],
  })
  t.match((await rig.posthorn.call('GET', `/v1/automations/${id}`)).json, {
    runs: { running: 0, waiting: 0, completed: 1 },
    enrolledContacts: 1,
  })
})

const on = (from: string, to: string, type: string) => ({ from, to, type })

t.test('waits, conditions and delays, as clients see them', async (t) => {
  const rig = await openAutomations(t)
  await rig.template('hello')
  const mail = (key: string) => ({
    key,
    type: 'send_email',
    config: { template: 'hello', from: 'us@sender.test' },
  })
  const steps = [
    { key: 'start', type: 'trigger', config: { eventName: 'cart.filled' } },
    {
      key: 'paid',
      type: 'wait_for_event',
      config: {
        eventName: 'order.paid',
        timeout: 'PT1S',
        filter: { field: 'event.cart', operator: 'eq', value: { var: 'trigger.cart' } },
      },
    },
    {
      key: 'large',
      type: 'condition',
      config: { field: 'waits.paid.total', operator: 'gte', value: 100 },
    },
    { key: 'pause', type: 'delay', config: { duration: 'PT1S' } },
    mail('thanks'),
    mail('reminder'),
  ]
  const connections = [
    on('start', 'paid', 'default'),
    on('paid', 'large', 'event_received'),
    on('paid', 'reminder', 'timeout'),
    on('large', 'pause', 'condition_met'),
    on('pause', 'thanks', 'default'),
  ]
  const id = await rig.enabled('Cart', steps, { connections })
  const fill = async (email: string) =>
    (await rig.event({ event: 'cart.filled', email, payload: { cart: 7 } })).automations[0].runId
  const buyer = await fill('ann@example.com')
  const parked = await rig.runWhen(buyer, ({ status }) => status === 'waiting')
  t.match(parked, { currentStep: 'paid', waitingFor: { kind: 'event', event: 'order.paid' } })
  const paid = (cart: number) =>
    rig.event({ event: 'order.paid', email: 'ann@example.com', payload: { cart, total: 200 } })
  t.match(await paid(8), { resumed: 0 }, 'of another cart')
  t.match(await paid(7), { resumed: 1, started: 0 })
  const done = await rig.ended(buyer)
  t.same(
    done.history.map(({ step, result }: { step: string; result: string }) => `${step} ${result}`),
    ['start started', 'paid received', 'large met', 'pause waited', 'thanks sent'],
  )
  const forgetful = await rig.ended(await fill('bob@example.com'))
  t.match(forgetful.history.at(-1), { step: 'reminder', result: 'sent' })
  t.match(forgetful.history.at(-2), { step: 'paid', result: 'timed_out' })
  const { runs } = (await rig.call('GET', `/v1/automations/${id}/runs?status=completed`)).json
  t.same(
    runs.map((run: { id: string }) => run.id),
    [forgetful.id, buyer],
    'newest first',
  )
  t.same((await rig.call('GET', `/v1/automations/${id}/runs?status=running`)).json.runs, [])
})

t.test('who follows the unsubscribe link leaves the automation', async (t) => {
  const rig = await openAutomations(t)
  const own =
    '<a href="%7B%7B unsubscribe_url %7D%7D">leave</a> <a href="{{ preferences_url }}">x</a>'
  await rig.template('hello', { html: `<p>${own}</p>` })
  const newsSteps = [
    { key: 'start', type: 'trigger', config: { eventName: 'signup' } },
    { key: 'mail', type: 'send_email', config: { template: 'hello', from: 'us@sender.test' } },
    { key: 'pause', type: 'delay', config: { duration: 'P1D' } },
  ]
  const newsId = await rig.enabled('News', newsSteps)
  t.match((await rig.call('GET', `/v1/automations/${newsId}`)).json, { warnings: [] })
  const walked = { event: 'signup', email: 'ann@example.com' }
  const { json: preview } = await rig.call('POST', `/v1/automations/${newsId}/simulate`, walked)
  t.match(JSON.stringify(preview), '{{ unsubscribe_url }}', 'a preview is no copy of anybody’s')
  const sent = await rig.event({ event: 'signup', email: 'ann@example.com' })
  const [{ runId }] = sent.automations
  const parked = await rig.runWhen(runId, ({ currentStep }) => currentStep === 'pause')
  const { html } = await rig.mail(parked.history[1].emailId)
  const [link = ''] = /http[^"]+\/unsubscribe\/[\w-]+/.exec(html) ?? []
  t.match(
    html,
    /^<p><a href="[^"]+">leave<\/a> <a href="http[^"]+\/preferences\/[\w-]{60,}">x<\/a><\/p>\s*$/,
  )
  // RFC 8058 §3.2: what a mail program sends for its reader.
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
  const answer = await fetch(link, { method: 'POST', body })
  t.equal(answer.status, 200)
  t.match((await rig.call('GET', `/v1/automations/runs/${runId}`)).json, {
    status: 'exited',
    reason: 'unsubscribed',
    waitingFor: null,
  })
  t.match((await rig.event({ event: 'signup', email: 'ann@example.com' })).automations, [
    { started: false, runId: null, reason: 'suppressed' },
  ])
})

t.test(
  'a subject that nothing is left of ends the run, and the reason names the way out',
  async (t) => {
    const rig = await openAutomations(t)
    await rig.template('hello', { subject: '{{ contact.firstName }}', html: '<p>Hi</p>' })
    await rig.enabled('News', [
      { key: 'start', type: 'trigger', config: { eventName: 'signup' } },
      { key: 'mail', type: 'send_email', config: { template: 'hello', from: 'us@sender.test' } },
    ])
    const sent = await rig.event({ event: 'signup', email: 'ann@example.com' })
    const run = await rig.ended(sent.automations[0].runId)
    t.equal(run.status, 'failed')
    t.match(
      run.reason,
      /empty without contact\.firstName; .*\{\{ contact\.firstName \| default: "Hello" \}\}/,
    )
  },
)
