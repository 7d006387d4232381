import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { planDue } from '../../src/automations/engine/plan.js'
import { takePlans } from '../../src/automations/engine/take.js'
import { acceptEvents, makeEngineMemory, runAutomations } from '../../src/automations/index.js'
import { loadConfig } from '../../src/config/index.js'
import { joinBacklog, makeBacklogMemory } from '../../src/deliveries/index.js'
import { silentLog } from '../../src/log/index.js'
import { silentMeter } from '../../src/metrics/index.js'
import type { Renderer, RenderJob } from '../../src/templates/index.js'
import { openAutomations } from '../support/automation-appliance.js'
import { dayMs, openEngine, send, trigger, wait } from '../support/automation-rig.js'
import { plans } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

t.test('an account whose runs cannot be planned keeps no other from its turn', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const now = clock.now()
  for (const [at, name] of ['first', 'second'].entries()) {
    const { id: accountId } = await createAccount({ store, clock }, name)
    await store.write(async (tx) => {
      await tx
        .insertInto('automations')
        .values({
          id: name,
          account_id: accountId,
          name,
          status: 'enabled',
          version: 1,
          running: 1,
          waiting: 0,
          completed: 0,
          exited: 0,
          failed: 0,
          cancelled: 0,
          enrolled: 1,
          created_at: now,
          updated_at: now,
          paused_at: null,
        })
        .execute()
      await tx
        .insertInto('automation_live')
        .values({
          id: `run of ${name}`,
          account_id: accountId,
          automation_id: name,
          version: 1,
          contact_id: `contact of ${name}`,
          step_id: 1,
          seq: 0,
          status: 'running',
          due_at: now - 100 + at,
          wait_event: null,
          woken_by: null,
          trigger_event: 1,
          entered_at: null,
          heard: null,
          waits: null,
          blocked: null,
          attempts: 0,
          steps: 0,
          mails: 0,
          outlives: 0,
          history: '[]',
          started_at: now,
          updated_at: now,
          held_at: null,
          held_reason: null,
          held_due_at: null,
        })
        .execute()
    })
  }
  const turns: string[] = []
  const told: object[] = []
  const stop = new AbortController()
  const { outbound } = loadConfig({ env: {} })
  const deps = {
    store,
    clock,
    plans,
    maxQueued: outbound.maxQueued,
    retry: outbound.retry,
    ring: () => {},
    meter: silentMeter,
    ...makeEngineMemory(),
    backlog: {
      ...joinBacklog(makeBacklogMemory()),
      get size(): number {
        throw new Error('What concerns all runs of an account is broken')
      },
    },
    log: { ...silentLog, error: (fields: object) => void told.push(fields) },
    surges: { minimum: 0, times: 10 },
    renderer: {
      render: async () => ({ kind: 'unavailable', cause: '-' }) as const,
      close: async () => {},
    },
    versions: async (_: unknown, automationId: string) => {
      turns.push(automationId)
      throw new Error(`${automationId} is broken`)
    },
  }
  let rests = 0
  await runAutomations(deps, stop.signal, async () => {
    if (++rests === 2) stop.abort()
    await clock.advance(60_000)
  })
  t.same(turns, ['first', 'second', 'first', 'second'], 'each a minute later again')
  t.equal(told.length, 4)
})

t.test('a contact whose data are broken stops its own run alone', async (t) => {
  const rig = await openAutomations(t)
  const { store } = rig
  const event = async (email: string) => (await rig.event({ event: 'e', email })).automations[0]
  await rig.enabled('Welcome', [
    { key: 'start', type: 'trigger', config: { eventName: 'e' } },
    { key: 'wait', type: 'delay', config: { duration: 'P1D' } },
    { key: 'end', type: 'exit', config: {} },
  ])
  const bad = await event('bad@example.com')
  const good = await event('good@example.com')
  for (const { runId } of [bad, good])
    await rig.runWhen(runId, ({ status }) => status === 'waiting')
  await store.write(async (tx) => {
    const theirs = tx.updateTable('contacts').where('address', '=', 'bad@example.com')
    await theirs.set({ metadata: '{' }).execute()
    await tx.updateTable('automation_live').set({ due_at: 0 }).execute()
  })
  t.match(await rig.ended(good.runId), { status: /completed|exited/ })
  const query = store.read
    .selectFrom('automation_live')
    .select('attempts')
    .where('id', '=', bad.runId)
  await rig.until(
    'the fault',
    async () => (await query.executeTakeFirst())?.attempts === 1 || undefined,
  )
})

t.test('a run whose mail finds no room with the renderer waits, and never fails', async (t) => {
  const rig = await openEngine(t)
  await rig.saveTemplate('hello', { html: '{% if contact.email contains "@" %}Hello{% endif %}' })
  await rig.enabled([trigger(), send('mail')])
  const run = await rig.start()
  const render = async () => ({ kind: 'unavailable', cause: 'it is overloaded' }) as const
  const renderer = { render, close: async () => {} }
  for (let day = 0; day < 8; day += 1) {
    await rig.work({ renderer })
    await rig.clock.advance(dayMs)
  }
  t.match(await rig.run(run), { status: 'running', history: [] })
  await rig.work()
  t.equal(await rig.story(run), 'start started, mail sent')
})

t.test('an account with slow templates leaves others their turn', async (t) => {
  const slow = await openEngine(t)
  const { store, clock } = slow
  const { id: accountId } = await createAccount({ store, clock }, 'Quick')
  const quick = await openEngine(t, { store, clock, accountId })
  await slow.saveTemplate('hello', { html: '{% if contact.email contains "@" %}Hello{% endif %}' })
  const many = Array.from({ length: 100 }, (_, n) => ({ event: 'signup', email: `a${n}@s.test` }))
  await slow.enabled([trigger(), send('mail')])
  await acceptEvents(slow.accepting, await slow.billing(), many)
  await quick.enabled([trigger(), send('mail')])
  const run = await quick.start()
  let rendered = 0
  let before: number | undefined
  await slow.work({
    renderer: {
      ...slow.renderer,
      render: (async (job: RenderJob) => {
        rendered += 1
        await clock.advance(100)
        const { status } = await quick.run(run)
        if (status === 'completed') before ??= rendered
        return await slow.renderer.render(job)
      }) as Renderer['render'],
    },
  })
  t.equal(rendered, 100)
  t.ok(before !== undefined && before <= 41, `after ${before} mails of the other`)
})

t.test('the simulator’s suppressed address begins no run', async (t) => {
  const rig = await openEngine(t)
  const email = 'suppressed@simulator.posthorn.test'
  await rig.enabled([trigger(), send('mail')])
  t.match((await rig.event({ email })).automations, [{ started: false, reason: 'suppressed' }])
})

t.test('runs whose contacts have very many events are looked at a few at a time', async (t) => {
  const rig = await openEngine(t)
  const filter = { field: 'event.total', operator: 'eq', value: 5 }
  const id = await rig.enabled([trigger(), wait('paid', 'paid', { filter, timeout: 'P1D' })])
  const emails = Array.from({ length: 12 }, (_, n) => `a${n}@s.test`)
  for (const email of emails) await rig.start({ email })
  await rig.work()
  for (const email of emails) {
    const many = Array.from({ length: 100 }, () => ({ event: 'paid', email }))
    for (let n = 0; n < 4; n += 1) await acceptEvents(rig.accepting, await rig.billing(), many)
  }
  await rig.clock.advance(dayMs)
  const batches: number[] = []
  const { read } = rig.store
  for (;;) {
    const batch = await planDue(rig.deps, rig.accountId, { now: rig.clock.now(), limit: 200 })
    if (batch === undefined) break
    batches.push(batch.plans.length)
    await takePlans({ ...rig.deps, ids: rig.store.ids }, batch, rig.clock.now())
  }
  t.ok(Math.max(...batches) < 6, `2,000 events together: ${batches}`)
  t.match(await rig.automation(id), { exited: emails.length })
  t.equal((await read.selectFrom('automation_live').select('id').execute()).length, 0)
})
