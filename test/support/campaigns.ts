import type { Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { loadPlans, readBilling, setMarketingPlan } from '../../src/billing/index.js'
import {
  type Broadcast,
  type BroadcastInput,
  createBroadcast,
  expandBroadcasts,
  findBroadcast,
  followBroadcasts,
} from '../../src/broadcasts/index.js'
import type { Clock } from '../../src/clock/index.js'
import { loadConfig, makeApplianceKey, packageFile } from '../../src/config/index.js'
import { addContact, createList } from '../../src/contacts/index.js'
import {
  type Claimed,
  claim,
  joinBacklog,
  makeBacklogMemory,
  type Settlement,
  type StreamDue,
  settle,
} from '../../src/deliveries/index.js'
import { addDomain } from '../../src/domains/index.js'
import { makeLandEvents } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import { queueClass, type Store } from '../../src/store/index.js'
import { openRenderer } from '../../src/templates/index.js'
import { attachmentRules } from './attachment-rules.js'
import { FakeClock } from './clock.js'
import { openTestStore } from './store.js'
import { rsaPair } from './template.js'

export const plans = loadPlans(packageFile('config/plans.toml'))

/** An account with a marketing plan, a verified domain and a list, for campaigns without a server. */
export async function openCampaigns(
  t: Test,
  options: { store?: Store; accountId?: string; clock?: Clock; marketing?: string } = {},
) {
  const clock = options.clock ?? new FakeClock()
  const store = options.store ?? (await openTestStore(t, { clock }))
  const accountId = options.accountId ?? (await createAccount({ store, clock }, 'City')).id
  if (options.store === undefined) {
    const key = makeApplianceKey(Buffer.alloc(32, 7))
    await addDomain({ store, clock, key }, accountId, 'sender.test', {
      trust: true,
      rsaPair: await rsaPair(),
    })
  }
  const name = options.marketing ?? 'Marketing Pro'
  const plan = plans.marketing.find((other) => other.name === name) ?? null
  await store.write((tx) => setMarketingPlan(tx, accountId, plan))
  const renderer = openRenderer({ log: silentLog, clock })
  t.teardown(() => renderer.close())
  const { id: listId } = await createList({ store, clock }, accountId, 'Readers')
  const backlog = joinBacklog(makeBacklogMemory())
  const rung: StreamDue[] = []
  const { retry, maxQueued } = loadConfig({ env: {} }).outbound
  const expandDeps = { store, clock, log: silentLog, plans, backlog, maxQueued, retry, renderer }
  const deps = { store, clock, plans, renderer, expand: () => {}, attachments: attachmentRules }
  const land = makeLandEvents([followBroadcasts])
  return {
    store,
    clock,
    log: silentLog,
    accountId,
    listId,
    deps,
    rung,
    backlog,
    land,
    renderer,
    add: async (email: string, more: { firstName?: string; metadata?: object } = {}) =>
      (await addContact({ store, clock }, accountId, { email, ...more } as never, { listId }))
        .contact,
    /** Adds `p0@d0.test`, `p1@d1.test` … over five domains, at once. */
    addMany: (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, n) =>
          addContact({ store, clock }, accountId, { email: `p${n}@d${n % 5}.test` }, { listId }),
        ),
      ),
    create: async (
      given: Partial<BroadcastInput> = {},
      more: { draft?: boolean } = {},
    ): Promise<Broadcast> => {
      const billing = await readBilling(store.read, plans, accountId)
      const usual = { listId, from: 'News <news@sender.test>', subject: 'News', html: '<p>x</p>' }
      return await createBroadcast(deps, billing, { ...usual, ...given }, more)
    },
    find: (id: string) => findBroadcast(store.read, accountId, id),
    expand: (more: Partial<typeof expandDeps> = {}, signal = new AbortController().signal) =>
      expandBroadcasts({ ...expandDeps, ring: (due) => rung.push(...due), ...more }, signal),
    recipients: async () => {
      const rows = await store.read.selectFrom('queue').select('recipient').orderBy('id').execute()
      return rows.map(({ recipient }) => recipient)
    },
    /** Claims what waits for these domains and settles it as `kindOf` says. */
    deliver: async (kindOf: (claimed: Claimed) => Settlement['kind']) => {
      const streams = await store.read
        .selectFrom('queue')
        .select(['lane', 'class', 'account_id as accountId'])
        .distinct()
        .execute()
      const now = clock.now()
      const wants = streams.map((stream) => ({ ...stream, limit: 1_000 }))
      const claims = await store.write((tx) => claim(tx, wants, { now, node: 1, lease: 3 }))
      const taken = claims.flatMap((one) => one.taken)
      const settlements = taken.map(
        (claimed): Settlement =>
          ({
            ...claimed,
            class: queueClass.campaign,
            kind: kindOf(claimed),
            startedAt: now,
            attempts: 1,
            reply: '250 ok',
            remote: null,
            tls: null,
            transcript: '',
            dueAt: now + 60_000,
          }) as Settlement,
      )
      await store.write((tx) => settle(tx, settlements, { lease: 3, now, land }))
      return taken
    },
  }
}
