import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { makeEngineMemory, runAutomations } from '../../src/automations/index.js'
import { loadConfig } from '../../src/config/index.js'
import { joinBacklog, makeBacklogMemory } from '../../src/deliveries/index.js'
import { silentLog } from '../../src/log/index.js'
import { openAutomations } from '../support/automation-appliance.js'
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
          ...{ id: name, account_id: accountId, name, status: 'enabled', version: 1, running: 1 },
          ...{ waiting: 0, completed: 0, exited: 0, failed: 0, cancelled: 0, enrolled: 1 },
          ...{ created_at: now, updated_at: now, paused_at: null, hour_from: 0, hour_mails: 0 },
        })
        .execute()
      await tx
        .insertInto('automation_live')
        .values({
          ...{ id: `run of ${name}`, account_id: accountId, automation_id: name, version: 1 },
          ...{ contact_id: `contact of ${name}`, step_id: 1, seq: 0, status: 'running' },
          ...{ due_at: now - 100 + at, wait_event: null, woken_by: null, trigger_event: 1 },
          ...{ entered_at: null, heard: null, waits: null, blocked: null, attempts: 0, steps: 0 },
          ...{ mails: 0, outlives: 0, history: '[]', started_at: now, updated_at: now },
          ...{ held_at: null, held_reason: null, held_due_at: null },
        })
        .execute()
    })
  }
  const turns: string[] = []
  const told: object[] = []
  const stop = new AbortController()
  const { outbound } = loadConfig({ env: {} })
  const deps = {
    ...{ store, clock, plans, maxQueued: outbound.maxQueued, retry: outbound.retry },
    ...{ backlog: joinBacklog(makeBacklogMemory()), ring: () => {}, ...makeEngineMemory() },
    log: { ...silentLog, error: (fields: object) => void told.push(fields) },
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
