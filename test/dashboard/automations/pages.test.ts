// Issue 47: automations in pages, without script: looked at, paused, let go on, started for many, people taken out.
import t from 'tap'
import { findAutomation, keepWritten, readWritten } from '../../../src/automations/index.js'
import { readBilling } from '../../../src/billing/index.js'
import { systemClock } from '../../../src/clock/index.js'
import { silentLog } from '../../../src/log/index.js'
import { openRenderer } from '../../../src/templates/index.js'
import { openAutomationPages } from '../../support/automation-pages.js'
import { plans } from '../../support/campaigns.js'
import { eventually } from '../../support/eventually.js'
import { logIn } from '../../support/log-in.js'

const pages = await openAutomationPages(t)
const { posthorn, store, accountId, base, owner, ask, call } = pages
const viewer = await pages.as('viewer')
const { id: listId } = await call('POST', '/v1/contacts/lists', { name: 'Readers & <friends>' })
const { id: other } = await call('POST', '/v1/contacts/lists', { name: 'Others' })
const { id } = await call('POST', '/v1/automations', {
  name: 'Greeting <b>',
  steps: [
    {
      key: 'start',
      type: 'trigger',
      config: {
        eventName: '$list.joined',
        filter: { field: 'trigger.listId', operator: 'eq', value: listId },
      },
    },
    { key: 'paid', type: 'wait_for_event', config: { eventName: 'order.paid', timeout: 'P3D' } },
    { key: 'known', type: 'condition', config: { field: 'contact.firstName', operator: 'exists' } },
    { key: 'later', type: 'delay', config: { duration: 'P1DT12H' } },
    { key: 'gone', type: 'exit', config: { reason: 'silent' } },
  ],
  connections: [
    { from: 'start', to: 'paid', type: 'default' },
    { from: 'paid', to: 'known', type: 'event_received' },
    { from: 'paid', to: 'gone', type: 'timeout' },
    { from: 'known', to: 'later', type: 'condition_met' },
    { from: 'known', to: 'gone', type: 'condition_not_met' },
  ],
  settings: { goal: { eventName: 'done' } },
})
const page = `${base}/automations/${id}`
const people = new Map<string, string>()
for (const name of ['ann', 'bob', 'eve', 'zoe']) {
  const made = await call('POST', `/v1/contacts/${listId}`, { email: `${name}@x.test` })
  people.set(name, made.id)
}
await call('POST', `/v1/automations/${id}/enable`)
/** What somebody has changed in the editor of an automation that is on. */
const keepDraft = async (automationId: string) => {
  const automation = await findAutomation(store.read, accountId, automationId)
  const written = await readWritten(store.read, automation)
  const billing = await readBilling(store.read, plans, accountId)
  const renderer = openRenderer({ log: silentLog, clock: systemClock })
  await keepWritten({ store, clock: systemClock, renderer }, billing, automationId, written)
  await renderer.close()
}
const runOf = async (name: string) => {
  const { runs } = await call('GET', `/v1/automations/${id}/runs`)
  return runs.find((run: { email: string | null }) => run.email === `${name}@x.test`)
}

t.test('the list says in words what starts it', async (t) => {
  const { status, text } = await viewer.get(`${base}/automations`)
  t.equal(status, 200)
  const none = await viewer.get(`${base}/automations?after=zzz`)
  t.match(none.text, /There is no such page of this list/)
  t.match(text, /When somebody joins Readers &amp; &lt;friends&gt;/)
  t.match(text, /Greeting &lt;b&gt;/)
  t.notMatch(text, /Greeting <b>/)
})

t.test('many are started: first it is said who would enter, then they do', async (t) => {
  const whom = `list.${listId}`
  const nothing = await owner.post(`${page}/start/look`, { whom: '', perHour: '10' })
  t.equal(nothing.status, 422)
  const look = await owner.post(`${page}/start/look`, { whom, perHour: '3600' })
  t.match(look.text, /How many an hour[\s\S]*A whole number from 1 to 1,000,000/)
  t.match(look.text, /4 people of “Readers &amp; &lt;friends&gt;”: 4 people would enter/)
  t.equal((await owner.post(`${page}/start`, { whom, perHour: '0' })).status, 422)
  const looked = `${whom} 3600`
  t.match(look.text, new RegExp(`name="looked" value="${looked}"`))
  for (const changed of [
    { whom, perHour: '36000' },
    { whom: `list.${other}`, perHour: '3600' },
  ]) {
    const refused = await owner.post(`${page}/start`, { ...changed, looked })
    t.equal(refused.status, 422, 'nobody has looked at this')
    t.match(refused.text, /You changed for whom it starts[\s\S]*would enter/)
  }
  const unseen = await owner.post(`${page}/start`, { whom, perHour: '3600' })
  t.match(unseen.text, /Nobody was started: look below/)
  t.equal((await posthorn.call('GET', `/v1/automations/${id}/start`)).status, 404)
  const start = { whom, perHour: '36000', looked: `${whom} 36000` }
  t.equal((await owner.post(`${page}/start`, start)).status, 303)
  const endedAt = async (ended_at: number | null) =>
    await store.write((tx) =>
      // Its next people are far away, so that it does not end meanwhile.
      tx
        .updateTable('automation_backfills')
        .set({ ended_at, next_at: Date.now() + 1e9 })
        .execute(),
    )
  const isOver = async () => (await call('GET', `/v1/automations/${id}/start`)).endedAt !== null
  await eventually(isOver, 20_000)
  const over = (await owner.get(`${page}/start`)).text
  t.match(over, /The last start/)
  // A tab of before the start: it has a form, and a start is under way.
  await endedAt(null)
  for (const path of ['start', 'start/look']) {
    const late = await owner.post(`${page}/${path}`, start)
    t.equal(late.status, 422)
    t.match(late.text, /It is being started already, for 36,000 an hour[\s\S]*Under way/)
    t.match(late.text, /4 of 4[\s\S]*About \d+ \w+ \d{4}/, 'how far it is, and until when')
  }
  await endedAt(Date.now())
  const again = await owner.post(`${page}/start/look`, { whom, perHour: '3600' })
  t.match(again.text, /0 people would enter/)
  t.match(again.text, /They are in it now/)
  t.match(again.text, /ann@x\.test, bob@x\.test/, 'and who they are')
})

t.test('the flow says who is where, in the drawing and in the outline', async (t) => {
  const { text } = await viewer.get(page)
  t.match(text, /<svg [\s\S]*4 here now[\s\S]*<\/svg>/)
  t.match(text, /<ol class="outline card">[\s\S]*<strong>4 here now<\/strong>/)
  t.match(text, /Wait until “order.paid” comes, 3 days at most/)
  t.match(text, /It came <a href="#step-3">step 3<\/a>/)
  t.notMatch(text, /\/pause"/, 'a viewer is offered nothing')
  t.equal((await viewer.post(`${page}/pause`, {})).status, 403)
  await call('POST', '/v1/events/send', { event: 'order.paid', email: 'bob@x.test' })
  await eventually(async () => (await runOf('bob')).status === 'exited', 20_000)
  const after = (await viewer.get(page)).text
  t.match(after, /<strong>3 here now<\/strong>/)
  t.match(
    after,
    /It came <a href="#step-3">step 3<\/a><span class="quiet">: 1 went this way<\/span>/,
  )
})

t.test('people are found by step, state and reason, each with a sentence', async (t) => {
  const all = (await viewer.get(`${page}/runs`)).text
  t.match(all, /ann@x.test/)
  t.match(
    all,
    /Waits for “order.paid” until [^<]*, then goes the way “it did not come”: End: silent/,
  )
  const here = (await viewer.get(`${page}/runs?show=live&step=paid&version=1`)).text
  t.match(here, /ann@x.test/)
  t.notMatch(here, /bob@x.test/)
  const left = (await viewer.get(`${page}/runs?why=exited.silent`)).text
  t.match(left, /bob@x.test/)
  t.notMatch(left, /ann@x.test/)
  t.match(left, /selected>Ended by a step: silent/)
  const ended = (await viewer.get(`${page}/runs?show=ended`)).text
  t.match(ended, /bob@x.test<\/a>/, 'whom a step ended is apart')
  t.notMatch(ended, /ann@x.test<\/a>/)
  t.notMatch((await viewer.get(`${page}/runs?show=exited`)).text, /bob@x.test<\/a>/)
  t.match((await viewer.get(`${page}/runs?show=ended&step=paid`)).text, /Nobody fits/)
  const never = (await viewer.get(`${page}/runs?show=completed&why=exited.silent`)).text
  t.match(never, /Nobody fits what is chosen above/, 'a state and a reason hold together, too')
  t.match(await call('GET', `/v1/automations/${id}`), { runs: { exited: 1 } }, 'as ever by the API')
  const none = (await viewer.get(`${page}/runs?show=wait.quota`)).text
  t.match(none, /Nobody here/)
  const both = (await viewer.get(`${page}/runs?why=exited.silent&step=start`)).text
  t.match(both, /Nobody fits what is chosen above/, 'all that is chosen holds')
  const stood = (await viewer.get(`${page}/runs?why=exited.silent&step=gone`)).text
  t.match(stood, /bob@x.test/)
  const period = (await viewer.get(`${page}?period=7`)).text
  t.match(period, /Of 4 people who began in this time, in this version\./)
  t.match(
    period,
    /It came <a href="#step-3">step 3<\/a><span class="quiet">: 1 went this way<\/span>/,
  )
  const run = await runOf('bob')
  const one = (await viewer.get(`${base}/automations/runs/${run.id}`)).text
  t.match(one, /Ended by the step “End: silent” on/)
  t.match(one, /It came<\/td>/)
})

t.test('one person is found by their address', async (t) => {
  const who = async (more: string) => (await owner.get(`${page}/runs?who=${more}`)).text
  const bob = await who('BOB@x.test')
  t.match(bob, /bob@x\.test<\/a>/)
  t.notMatch(bob, /ann@x\.test<\/a>|Take out all that fit|Take everybody out/)
  t.match(await who('bob@x.test&show=live'), /“bob@x\.test” is not among those who fit what else/)
  t.match(await who('nobody@x.test'), /There is no contact “nobody@x\.test”\. Write the whole/)
  await call('POST', `/v1/contacts/${other}`, { email: 'new@x.test' })
  t.match(await who('new@x.test'), /“new@x\.test” has never been in it/)
  const api = await call('GET', `/v1/automations/${id}/runs?email=bob%40x.test&status=exited`)
  t.match(api, { runs: [{ email: 'bob@x.test' }], hasMore: false })
  t.equal((await call('GET', `/v1/automations/${id}/runs?email=new%40x.test`)).runs.length, 0)
})

t.test('names in sentences stand apart, and have no quotation marks within', async (t) => {
  const { cookie } = owner
  const raw = async (path: string) =>
    await (await fetch(posthorn.url + path, { headers: { cookie } })).text()
  t.match(await raw(`${page}/runs`), /Waits for “<bdi>order\.paid<\/bdi>” until/)
  t.match(await raw(page), /<bdi>Wait until “<bdi>order\.paid<\/bdi>” comes, 3 days at most<\/bdi>/)
  const check = (await owner.get(`${page}/runs?step=paid&show=live`)).text
  t.match(check, /at “Wait until ‘order\.paid’ comes, 3 days at most”/)
  t.notMatch(check, /“[^”]*“/)
})

t.test('the report tells who began on which day, and where they are', async (t) => {
  const { status, text } = await viewer.get(`${page}/report`)
  t.equal(status, 200)
  t.match(text, /Who began in the last 30 days/)
  t.match(
    text,
    /<td class="number">3<\/td><td class="number">1<\/td><td class="number">0<\/td><td class="number">0<\/td>/,
    'whom a step ended has not left',
  )
})

t.test('the report has all steps; who left at one by none of its ways is counted', async (t) => {
  const { text } = await viewer.get(`${page}/report`)
  t.match(text, /In it now[\s\S]*Ended by a step<[\s\S]*Left on the way/)
  t.notMatch(text, /Of these (failed|taken out)/, 'there is nobody')
  const row = (cells: readonly number[]) =>
    new RegExp(
      `Wait until “order.paid”[^<]*</t[dh]>${cells.map((n) => `<td[^>]*>${n}</td>`).join('')}`,
    )
  t.match(text, row([4, 3, 1, 0]))
  const { runs } = await call('GET', `/v1/automations/${id}/runs?step=paid&version=1`)
  t.equal(runs.length, 3)
  const left = await call('GET', `/v1/automations/${id}/runs?status=exited&reason=silent`)
  t.match(left.runs, [{ email: 'bob@x.test' }])
  for (const wrong of [
    'step=payed',
    'step=paid&version=9',
    'reason=silent',
    'waiting=hope',
    'version=9',
  ]) {
    const { status } = await posthorn.call('GET', `/v1/automations/${id}/runs?${wrong}`)
    t.equal(status, 422, wrong)
  }
  const zoe = await runOf('zoe')
  t.equal((await owner.post(`${base}/automations/runs/${zoe.id}/cancel`, {})).status, 303)
  const after = (await viewer.get(`${page}/report`)).text
  t.match(after, row([4, 2, 1, 1]))
  t.match(after, /Of these taken out/)
  t.match((await viewer.get(page)).text, /1 left here/)
})

t.test('one is taken out, and then all that fit', async (t) => {
  const run = await runOf('ann')
  const cancelled = await owner.post(`${base}/automations/runs/${run.id}/cancel`, {})
  t.equal(cancelled.status, 303)
  const one = (await owner.get(`${base}/automations/runs/${run.id}`)).text
  t.match(one, /Taken out at [^<]*: by somebody of the team/)
  const twice = await owner.post(`${base}/automations/runs/${run.id}/cancel`, {})
  t.equal(twice.status, 422)
  t.match(twice.text, /They are not in it any more/)
  t.equal((await viewer.post(`${page}/runs/cancel?step=paid`, {})).status, 403)
})

t.test('a pause, and the three ways to go on', async (t) => {
  t.equal((await owner.post(`${page}/pause`, {})).status, 303)
  t.match((await owner.get(`${base}/automations`)).text, /Paused/)
  const held = (await owner.get(`${page}/runs`)).text
  t.match(held, /: End: silent\. The automation is paused meanwhile\./)
  const asked = (await owner.get(`${page}/resume`)).text
  t.match(asked, /Nobody’s time has come meanwhile/)
  t.match(asked, /As if no time had passed[\s\S]*Catch up now[\s\S]*Leave out what was missed/)
  t.equal((await owner.post(`${page}/resume`, { overdue: 'never' })).status, 422)
  t.equal((await owner.post(`${page}/resume`, { overdue: 'shift' })).status, 303)
  const repeated = await owner.post(`${page}/resume`, { overdue: 'shift' })
  t.equal(repeated.status, 422)
  t.match(repeated.text, /is not paused/)
})

t.test('who is in an old version is moved to a new one', async (t) => {
  t.equal((await owner.post(`${page}/disable`, {})).status, 303)
  const { steps, connections } = await call('GET', `/v1/automations/${id}`)
  await call('PATCH', `/v1/automations/${id}`, { steps, connections })
  await call('POST', `/v1/automations/${id}/enable`)
  const plan = (await owner.get(`${page}/move`)).text
  t.match(plan, /1 person would go on by the steps of version 2/)
  const flow = (await owner.get(page)).text
  t.match(flow, /1 person is in version 1\. <a [^>]*>Show it<\/a> · <a [^>]*\/move">Move them</)
  t.match(flow, />Version 1: 1 now</)
  t.equal((await owner.post(`${page}/move`, { version: '2' })).status, 303)
  t.match((await owner.get(`${page}/move`)).text, /Nobody is in another version/)
  t.equal((await runOf('eve')).version, 2)
  t.match((await owner.get(`${page}?version=1`)).text, /Version 2[\s\S]*Version 1/)
})

t.test('who is at a step that is gone is told of, and begins another one', async (t) => {
  const was = await call('GET', `/v1/automations/${id}`)
  const without = {
    steps: was.steps.filter((one: { key: string }) => one.key !== 'paid'),
    connections: [
      { from: 'start', to: 'known', type: 'default' },
      ...was.connections.filter((one: { from: string }) => one.from === 'known'),
    ],
  }
  await call('POST', `/v1/automations/${id}/disable`)
  await call('PATCH', `/v1/automations/${id}`, without)
  await call('POST', `/v1/automations/${id}/enable`)
  const check = (await owner.get(`${page}/enable`)).text
  t.match(check, /1 person is at “Wait until ‘order.paid’ comes, 3 days at most” of version 2/)
  t.match(check, /<table[\s\S]*Wait until “order.paid”[\s\S]*The new version has not this step/)
  // Whoever is there can be chosen by what the step was called.
  const chosen = (await owner.get(`${page}/runs?show=live&step=paid&version=2`)).text
  const named = 'Wait until “order.paid” comes, 3 days at most'
  t.match(chosen, new RegExp(`<option value="paid" selected>${named} \\(version 2\\)<`))
  t.match(chosen, /at “[^”]*order\.paid[^”]*\(version 2\)”, version 2/)
  t.notMatch(chosen, /A step that is gone/)
  t.match((await owner.get(`${page}/runs`)).text, new RegExp(`>${named} \\(version 2\\)<`))
  const plan = (await owner.get(`${page}/move?to=3`)).text
  t.match(plan, /1 person is at steps that this version has not/)
  t.match(plan, /<option value="later"[^>]*>Begin: Wait 1 day 12 hours/)
  t.notMatch(plan, /step paid/, 'no key is said')
  const others = await owner.get(`${page}/move?to=3&step=later`)
  t.match(others.text, /Only those for whom this holds: at “Wait 1 day 12 hours”/)
  t.match(others.text, /Nobody of them is in another version/)
  const wrong = await owner.post(`${page}/move`, { version: '3', step: 'paid', begins: 'start' })
  t.equal(wrong.status, 422)
  const moved = await owner.post(`${page}/move`, { version: '3', step: 'paid', begins: 'later' })
  t.equal(moved.status, 303)
  await eventually(async () => (await runOf('eve')).waitingFor?.kind === 'delay', 20_000)
  t.match(await runOf('eve'), { version: 3, currentStep: 'later' })
  const flow = (await owner.get(page)).text
  t.match(flow, /<strong>1 here now<\/strong> <span class="quiet">1 came here/)
})

t.test(
  'an address that asks for what is not there shows nobody, and does nothing with all',
  async (t) => {
    for (const [asked, says] of [
      ['show=nonsense', 'Where nobody can be'],
      ['show=wait.nonsense', 'Where nobody can be'],
      ['why=nonsense', 'A reason that nobody has'],
      ['version=first', 'Version first'],
    ] as const) {
      const html = (await owner.get(`${page}/runs?${asked}`)).text
      t.match(html, /Nobody fits what is chosen above/, asked)
      t.match(html, new RegExp(`<option value="[^"]*" selected>${says}<`), 'it stands in its field')
      t.notMatch(html, /Take everybody out|Take out all/)
    }
    const before = (await call('GET', `/v1/automations/${id}`)).runs
    t.ok(before.waiting > 0)
    for (const asked of [
      '',
      '?show=nonsense',
      '?who=eve@x.test',
      '?why=exited.silent',
      '?version=x',
    ]) {
      const refused = await owner.post(`${page}/runs/cancel${asked}`, {})
      t.equal(refused.status, 422, asked)
      t.match(refused.text, /Nobody was taken out|Nobody of those whom this address asks for/)
    }
    const both = { everybody: true, step: 'later' }
    for (const body of [{}, { everybody: false }, { dryRun: false }, both]) {
      const refused = await ask('POST', `/v1/automations/${id}/cancel`, body)
      t.match(refused, { status: 422, json: { error: /or all of them by `everybody: true`/ } })
    }
    t.match(await call('POST', `/v1/automations/${id}/cancel`, { dryRun: true }), {
      total: before.waiting,
    })
    t.match((await call('GET', `/v1/automations/${id}`)).runs, before)
    t.match((await owner.get(`${page}/runs`)).text, /name="everybody" value="on"/)
    t.match(
      (await owner.get(`${page}/runs?show=live`)).text,
      /Everybody who is in it, 1 person, leaves/,
    )
  },
)

t.test('all that fit leave; the log says who did what', async (t) => {
  const begun = await owner.post(`${page}/runs/cancel?step=later`, {})
  t.equal(begun.status, 303, begun.text.slice(0, 300))
  const runs = async () => (await call('GET', `/v1/automations/${id}`)).runs
  await eventually(async () => (await runs()).cancelled === 3, 20_000)
  t.match(await runs(), { running: 0, waiting: 0, cancelled: 3 })
  const task = (await owner.get(begun.to)).text
  t.match(task, /Taking people out of “Greeting &lt;b&gt;”/)
  t.match(task, /1 of 1[\s\S]*at “Wait 1 day 12 hours”/)
  t.match(await call('GET', `/v1/automations/${id}/cancel`), { state: 'done', cancelled: 1 })
  const underWay = async (state: 'paused' | 'done', endedAt: number | null) => {
    const change = { state, ended_at: endedAt }
    await store.write((tx) =>
      tx.updateTable('tasks').set(change).where('kind', '=', 'runs').execute(),
    )
  }
  await underWay('paused', null)
  t.match((await owner.get(`${page}/runs`)).text, /People are being taken out: at “Wait 1 day 12/)
  await underWay('done', 1)
  t.notMatch((await owner.get(`${page}/runs`)).text, /People are being taken out/)
  t.equal((await owner.post(`${page}/archive`, {})).status, 303)
  t.match((await owner.get(page)).text, /Archived/)
  const log = (await owner.get(`${base}/audit`)).text
  t.match(log, /Automation “Greeting &lt;b&gt;” paused/)
  t.match(log, /archived/)
})

t.test('a draft is seen, and what begins with a deleted list is in the way', async (t) => {
  const at = await call('POST', '/v1/contacts/lists', { name: 'Gone soon' })
  const filter = { field: 'trigger.listId', operator: 'eq', value: at.id }
  const made = await call('POST', '/v1/automations', {
    name: 'Short',
    steps: [
      { key: 'start', type: 'trigger', config: { eventName: '$list.joined', filter } },
      { key: 'later', type: 'delay', config: { duration: 'P1D' } },
    ],
    connections: [{ from: 'start', to: 'later', type: 'default' }],
  })
  const here = `${base}/automations/${made.id}`
  t.notMatch((await owner.get(`${here}/enable`)).text, /list is deleted/)
  // The drawing of one that was never on leads there too.
  const nobody = await owner.get(`${here}/runs?show=live&step=later&version=1`)
  t.equal(nobody.status, 200)
  t.match(nobody.text, /Nobody fits/)
  await call('POST', `/v1/automations/${made.id}/enable`)
  t.notMatch((await owner.get(here)).text, /There is a draft/)
  await keepDraft(made.id)
  t.match((await owner.get(here)).text, /There is a draft[\s\S]*edit\/discard/)
  t.match((await viewer.get(here)).text, /There is a draft that is not in force/)
  t.notMatch((await viewer.get(here)).text, /discard/)
  t.match((await owner.get(`${base}/automations`)).text, /Draft<span class="hidden"> of Short/)
  t.equal((await owner.post(`${here}/edit/discard`, {})).status, 303)
  t.notMatch((await owner.get(here)).text, /There is a draft/)
  t.notMatch((await owner.get(here)).text, /cannot begin/)
  await call('DELETE', `/v1/contacts/lists/${at.id}`)
  for (const path of [here, `${here}/runs`, `${base}/automations`]) {
    const { text } = await owner.get(path)
    t.match(text, /On, cannot begin: its list is deleted/, path)
    t.match(text, /When somebody joins a list that is deleted/, path)
  }
  await call('POST', `/v1/automations/${made.id}/disable`)
  t.match((await owner.get(`${here}/enable`)).text, /This list is deleted, so nobody joins it/)
  t.notMatch((await owner.get(`${here}/enable`)).text, /class="primary">Turn it on/)
  const refused = await posthorn.call('POST', `/v1/automations/${made.id}/enable`)
  t.equal(refused.status, 422)
})

t.test('the address of a form leads to its page', async (t) => {
  const look = await owner.get(`${page}/start/look`)
  t.match(look, { status: 303, to: `${page}/start` })
  const cancel = await owner.get(`${page}/runs/cancel?step=paid`)
  t.match(cancel, { status: 303, to: `${page}/runs?step=paid` })
})

t.test('nothing of another account is there', async (t) => {
  const { accountId: other } = await posthorn.addAccount('Other')
  const stranger = await logIn(posthorn, other, 'owner')
  for (const path of ['', '/runs', '/report', '/resume', '/move', '/start']) {
    t.equal((await stranger.get(`/a/${other}/automations/${id}${path}`)).status, 404, path)
  }
  const run = await runOf('eve')
  t.equal((await stranger.get(`/a/${other}/automations/runs/${run.id}`)).status, 404)
  t.equal(await store.read.selectFrom('automation_live').select('id').executeTakeFirst(), undefined)
})

t.test(
  'who is taken out is said to have left, everywhere alike; nobody is taken out where nobody is',
  async (t) => {
    const made = await call('POST', '/v1/automations', {
      name: 'Short',
      steps: [
        { key: 'start', type: 'trigger', config: { eventName: 'short' } },
        { key: 'wait', type: 'delay', config: { duration: 'P1D' } },
      ],
      connections: [{ from: 'start', to: 'wait', type: 'default' }],
    })
    const at = `/v1/automations/${made.id}`
    const runs = `${base}/automations/${made.id}/runs`
    await call('POST', `${at}/enable`)
    await call('POST', '/v1/events/send', { event: 'short', email: 'ann@x.test' })
    await call('POST', '/v1/events/send', { event: 'short', email: 'bob@x.test' })
    t.match((await owner.get(runs)).text, /Everybody who is in it, 2 people, leave it/)
    await call('POST', `${at}/cancel`, { everybody: true })
    await eventually(async () => (await call('GET', `${at}/cancel`)).state === 'done', 20_000)
    const report = (await viewer.get(`${base}/automations/${made.id}/report`)).text
    const figure = (label: string, value: string) =>
      new RegExp(`${label}</dt>\\s*<dd[^>]*>${value}<`)
    for (const [label, value] of [
      ['Came to the end', '0'],
      ['Ended by a step', '0'],
      ['Left on the way', '2'],
      ['Of these taken out', '2'],
    ] as const) {
      t.match(report, figure(label, value))
      t.match((await viewer.get(`${base}/automations/${made.id}`)).text, figure(label, value))
    }
    t.match((await viewer.get(`${base}/automations`)).text, /Came to the end/)
    t.notMatch((await owner.get(runs)).text, /Take everybody out|Take out all|Move people/)
  },
)
