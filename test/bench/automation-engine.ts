import { acceptBatch } from '../../src/automations/batch.js'
import {
  createAutomation,
  type EngineDeps,
  enableAutomation,
  makeEngineMemory,
  runSome,
} from '../../src/automations/index.js'
import { loadPlans, readBilling } from '../../src/billing/index.js'
import { type Clock, systemClock } from '../../src/clock/index.js'
import { loadConfig, packageFile } from '../../src/config/index.js'
import { joinBacklog, makeBacklogMemory } from '../../src/deliveries/index.js'
import { silentLog } from '../../src/log/index.js'
import { makeTally } from '../../src/metrics/index.js'
import { openRenderer, putTemplate } from '../../src/templates/index.js'
import { openBeside } from './fill-list.js'

const html =
  '<h1>Dear {{ contact.firstName | default: "reader" }}</h1><p>About {{ event.order }}</p>'
const batch = 100
// As many requests as four clients of the API have on their way.
const atOnce = 4

export type Kind = 'trigger' | 'delay' | 'send'

/** The engine and the intake of events in this process, over a data directory in which nothing runs. */
export async function openBenchEngine(dataDir: string, accountId: string) {
  const store = await openBeside(dataDir)
  let passedMs = 0
  const clock: Clock = { ...systemClock, now: () => Date.now() + passedMs }
  const plans = loadPlans(packageFile('config/plans.toml'))
  const renderer = openRenderer({ log: silentLog, clock })
  const { retry } = loadConfig({ env: {} }).outbound
  const memory = makeEngineMemory()
  const deps: EngineDeps = {
    store,
    clock,
    log: silentLog,
    plans,
    retry,
    surges: { minimum: 1_000_000, times: 10 },
    renderer,
    ...memory,
    backlog: joinBacklog(makeBacklogMemory()),
    maxQueued: Number.POSITIVE_INFINITY,
    ring: () => {},
    meter: makeTally(),
  }
  await putTemplate(deps, accountId, { slug: 'bench', subject: 'News', html })
  const billing = await readBilling(store.read, plans, accountId)
  const accepting = {
    store,
    clock,
    plans,
    versions: memory.versions,
    meter: deps.meter,
    automate: () => {},
    automateIfDue: () => {},
    isFull: async () => false,
  }
  return {
    store,
    /** An enabled automation with these steps in a row, which begins with the event of its name. */
    async enable(name: string, kinds: readonly Kind[]): Promise<string> {
      const steps = kinds.map((kind, place) => stepOf(name, kind, `step${place}`))
      const connections = steps
        .slice(1)
        .map(({ key: to }, place) => ({ from: `step${place}`, to, type: 'default' }))
      const { id } = await createAutomation({ store, clock }, billing, { name, steps, connections })
      await enableAutomation({ store, clock, renderer }, billing, id)
      return id
    },
    /** Takes in one event of each of these contacts, in batches. */
    async ingest(event: string, contactIds: readonly string[]): Promise<Rate> {
      const events = contactIds.map((contactId, n) => ({
        event,
        contactId,
        payload: { order: `A-${n}`, total: 4_200 },
      }))
      const done = startTiming()
      const next = async (): Promise<void> => {
        const some = events.splice(0, batch)
        if (some.length === 0) return
        await acceptBatch(accepting, billing, some, async () => {})
        await next()
      }
      await Promise.all(Array.from({ length: atOnce }, next))
      return done(contactIds.length)
    },
    /** Makes every run due and takes what is, so many times. */
    async work(runs: number, times: number): Promise<Rate> {
      const done = startTiming()
      for (let time = 0; time < times; time++) {
        passedMs += 3_600_000
        while (await runSome(deps, accountId));
      }
      return done(runs * times)
    },
    async close() {
      await renderer.close()
      await store.close()
    },
  }
}

/** What was done in a time: of it a second, and microseconds of this process's processor time each. */
export interface Rate {
  perSecond: number
  cpuMicros: number
}

export function startTiming(): (count: number) => Rate {
  const began = performance.now()
  const before = process.cpuUsage()
  return (count) => {
    const { user, system } = process.cpuUsage(before)
    const perSecond = (count * 1_000) / (performance.now() - began)
    return { perSecond, cpuMicros: (user + system) / count }
  }
}

function stepOf(eventName: string, type: Kind, key: string) {
  if (type === 'trigger') return { key, type, config: { eventName } }
  if (type === 'delay') return { key, type, config: { duration: 'PT30M' } }
  const config = { template: 'bench', from: 'Bench <bench@example.test>' }
  return { key, type: 'send_email', config }
}
