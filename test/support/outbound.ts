import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { findPlan, loadPlans, openSubscription, setPlan } from '../../src/billing/index.js'
import { followBroadcasts } from '../../src/broadcasts/index.js'
import { type Clock, systemClock } from '../../src/clock/index.js'
import { type Config, loadConfig, makeApplianceKey, packageFile } from '../../src/config/index.js'
import {
  type Backlog,
  type Claimed,
  changeFitting,
  claim,
  joinBacklog,
  type LiveGate,
  makeBacklogMemory,
  makeReturnPaths,
  makeTestOwner,
  retry,
  type StreamKey,
} from '../../src/deliveries/index.js'
import type { StaticRecords, ValidatedResolver } from '../../src/dns/index.js'
import { addDomain } from '../../src/domains/index.js'
import { acceptEmail, type EmailRecord, readEmail } from '../../src/emails/index.js'
import type { SendInput } from '../../src/emails/send-body.js'
import { makeLandEvents } from '../../src/events/index.js'
import { type Log, silentLog } from '../../src/log/index.js'
import { type Meter, silentMeter } from '../../src/metrics/index.js'
import {
  loadShaping,
  type OutboundDeps,
  openOutbound,
  type Reachability,
} from '../../src/outbound/index.js'
import { loadBounceRules } from '../../src/reports/index.js'
import { makeTestInbox } from '../../src/sandbox/index.js'
import { makeSimulator } from '../../src/simulator/index.js'
import type { QueueClass, Store } from '../../src/store/index.js'
import { suppressFailing } from '../../src/suppression/index.js'
import { openRenderer, type Renderer } from '../../src/templates/index.js'
import { attachmentRules } from './attachment-rules.js'
import { FakeClock } from './clock.js'
import { type FakeMx, fakeMx, type MxScript } from './fake-mx.js'
import { type FakeResolver, fakeResolver } from './resolver.js'
import { makeTempDir, openTestStore } from './store.js'
import { rsaPair } from './template.js'

export interface OutboundRig {
  store: Store
  accountId: string
  backlog: Backlog
  mx: FakeMx
  resolver: FakeResolver
  dataDir: string
  /** Accepts a mail as the API would and rings the outbound side. */
  send(body: Partial<SendInput> & Pick<SendInput, 'to'>, as?: string): Promise<string>
  /** Another account, whose plan has no limit. */
  addAccount(): Promise<string>
  email(id: string): Promise<EmailRecord>
  /** Resolves when `isSo` holds for the email; fails the test after `withinMs` of real time. */
  until(id: string, isSo: (email: EmailRecord) => boolean, withinMs?: number): Promise<EmailRecord>
  /** Waits for a status. */
  becomes(id: string, status: EmailRecord['status']): Promise<EmailRecord>
  ring(lane: string, queueClass?: QueueClass): void
  /** Resolves when `isSo` holds; fails the test after ten seconds of real time. */
  eventually(isSo: () => boolean | Promise<boolean>): Promise<void>
  gateOf(stream: StreamKey): LiveGate | undefined
  /** As `posthorn queue retry` does. */
  retry(lane: string): Promise<void>
  /** What the outbound side has seen of the way out. */
  contacts(): Reachability[]
  /** Another operator's shaping.toml, taken up as by SIGHUP. */
  reshape(toml: string): void
  /** Claims transactional deliveries like a thread, but without an attempt. */
  take(lane: string, limit: number, thread?: number): Promise<Claimed[]>
  /** Stops the outbound side; `start` begins again, as after a restart. */
  stop(graceMs?: number): Promise<void>
  start(): Promise<void>
}

export interface RigOptions {
  script?: MxScript
  clock?: Clock
  dns?: StaticRecords
  config?: Partial<Config['outbound']>
  /** Off unless given: mail leaves as it was written. */
  tracking?: Partial<Config['tracking']>
  /** What an operator's shaping.toml says; by default the fake MX has 10 connections and no rate. */
  shaping?: string
  log?: Log
  meter?: Meter
  /** Stands in for a resolver that checks DNSSEC. */
  validated?: ValidatedResolver
  tls?: OutboundDeps['tls']
  /** Sessions are counted for reports about TLS. */
  countTls?: boolean
  /** The node as which the appliance claims (`becomeNode`). */
  turns?: SharedArrayBuffer
  /** Do not start the outbound side yet. */
  stopped?: boolean
}

/** The fake MX as a provider with these limits, so that no connection has to be earned. */
export function shapedTo(limits: { connections?: number; messages?: number } = {}): string {
  const { connections = 10, messages = 10_000 } = limits
  return [
    '[providers.fake]\nmx = ["mx.test"]\nmessages_per_minute = 1000000',
    `connections = ${connections}\nmessages_per_connection = ${messages}\n`,
  ].join('\n')
}

const accountId = '01900000-0000-7000-8000-000000000001'

/**
 * The outbound side alone, in this process: real store, real sockets, a fake DNS that leads every
 * domain to one fake MX, a clock that the test may move.
 */
export async function outboundRig(t: Test, options: RigOptions = {}): Promise<OutboundRig> {
  const clock = options.clock ?? systemClock
  const dataDir = makeTempDir(t)
  const store = await openTestStore(t, {
    clock,
    dataDir,
    ...(options.turns && { turns: options.turns }),
  })
  const mx = await fakeMx(t, options.script)
  const resolver = fakeResolver(
    options.dns ?? {
      '*': { mx: [{ preference: 10, exchange: 'mx.test' }] },
      'mx.test': { a: ['127.0.0.1'] },
    },
  )
  const backlog = joinBacklog(makeBacklogMemory())
  const plans = loadPlans(packageFile('config/plans.toml'))
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  const senders = new Map<string, string>()
  const addAccount = async (id: string, sender: string) => {
    await store.write(async (tx) => {
      await tx.insertInto('accounts').values({ id, name: 'Test', created_at: 0 }).execute()
      await openSubscription(tx, id)
    })
    await addDomain({ store, clock, key }, id, sender, { trust: true, rsaPair: await rsaPair() })
    senders.set(id, `Sender <news@${sender}>`)
  }
  await addAccount(accountId, 'sender.test')
  const { outbound: defaults } = loadConfig({ env: {} })
  const config = {
    ...defaults,
    port: mx.port,
    allowPrivateAddresses: true,
    heloName: 'out.test',
    warmUp: 'off' as const,
    ...options.config,
  }

  const shapingFile = join(dataDir, 'shaping.toml')
  writeFileSync(shapingFile, options.shaping ?? shapedTo())
  const bounceRules = loadBounceRules([packageFile('config/bounce-rules.toml')])
  const readShaping = () => loadShaping([packageFile('config/shaping.toml'), shapingFile])

  // The simulator's reports come to the fake MX.
  const inbound = { host: mx.host, port: mx.port }
  const simulator = makeSimulator({ clock, log: silentLog, inbound })
  t.teardown(() => simulator.close())
  const testInbox = makeTestInbox({
    store,
    clock,
    log: silentLog,
    resolver: fakeResolver(),
    ownerOf: makeTestOwner(store.read, makeReturnPaths(key)),
    keepMessages: 100,
  })
  t.teardown(() => testInbox.close())
  let renderer: Renderer | undefined
  const open = () =>
    openOutbound({
      store,
      clock,
      resolver: { ...resolver, ...(options.validated && { validated: options.validated }) },
      ...(options.tls && { tls: options.tls }),
      countTls: options.countTls ?? false,
      log: options.log ?? silentLog,
      key,
      meter: options.meter ?? silentMeter,
      backlog,
      land: makeLandEvents([suppressFailing, followBroadcasts]),
      publicUrl: 'https://mail.test',
      tracking: { opens: false, clicks: false, machineWithin: 0, ...options.tracking },
      config,
      shaping: readShaping(),
      bounceRules: () => bounceRules,
      renderer: () => {
        if (renderer === undefined) {
          const opened = openRenderer({ log: silentLog, clock })
          t.teardown(() => opened.close())
          renderer = opened
        }
        return renderer
      },
      simulator,
      testInbox,
      thread: 0,
      threads: 1,
      random: () => 0,
    })
  let outbound: Awaited<ReturnType<typeof open>> | undefined
  const rig: OutboundRig = {
    store,
    accountId,
    backlog,
    mx,
    resolver,
    dataDir,
    async addAccount() {
      const number = senders.size + 1
      const id = `${accountId.slice(0, -4)}${String(number).padStart(4, '0')}`
      await addAccount(id, `sender${number}.test`)
      await store.write((tx) => setPlan(tx, id, findPlan(plans.email, 'Unlimited')))
      return id
    },
    async send(body, as = accountId) {
      const { id } = await acceptEmail(
        {
          store,
          clock,
          log: silentLog,
          plans,
          defaultCountry: 'NG',
          attachments: attachmentRules,
          renderer: noRenderer,
          backlog,
          maxQueued: 1_000_000,
          surges: { minimum: 0, times: 10 },
          ring: (due) => outbound?.ring(due),
          retry: config.retry,
        },
        as,
        { from: senders.get(as) ?? '', subject: 'Hello', html: '<p>Hello</p>', ...body },
      )
      return id
    },
    email: (id) => readEmail(store.read, accountId, id),
    async until(id, isSo, withinMs = 10_000) {
      for (let waited = 0; ; waited += 5) {
        const email = await rig.email(id)
        if (isSo(email)) return email
        if (waited >= withinMs) throw new Error(`The email stays ${JSON.stringify(email)}`)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    async eventually(isSo) {
      for (let waited = 0; !(await isSo()); waited += 5) {
        if (waited >= 10_000) throw new Error(`It never held: ${isSo}`)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    gateOf: (stream) => outbound?.gateOf(stream),
    contacts: () => (outbound === undefined ? [] : [outbound.standing().contact]),
    async retry(lane) {
      await changeFitting({ store, clock }, { lane }, (tx, ids, now) => retry(tx, ids, { now }))
      await outbound?.retry([lane])
    },
    reshape(toml) {
      writeFileSync(shapingFile, toml)
      outbound?.reshape(readShaping())
    },
    becomes: (id, status) => rig.until(id, (email) => email.status === status),
    async take(lane, limit, thread = 0) {
      const want = { lane, class: 0, accountId, limit } as const
      const options = { now: clock.now(), node: 1, lease: thread }
      const claims = await store.write((tx) => claim(tx, [want], options))
      return claims.flatMap(({ taken }) => taken)
    },
    ring: (lane, queueClass = 0) =>
      outbound?.ring([{ lane, class: queueClass, accountId, dueAt: clock.now() }]),
    async stop(graceMs = 1_000) {
      const closed = outbound?.close(graceMs)
      // Without a grace attempts are broken off at once, by a test's clock too.
      if (graceMs === 0 && clock instanceof FakeClock) await clock.advance(0)
      await closed
      outbound = undefined
    },
    async start() {
      outbound = await open()
      // The first look at the queue, which the appliance does not wait for.
      await outbound.scan()
    },
  }
  t.teardown(() => rig.stop(0))
  if (!options.stopped) await rig.start()
  return rig
}

/** How many deliveries have a lease: under way, or claimed ahead. */
export async function leased({ store }: OutboundRig): Promise<number> {
  const { n } = await store.read
    .selectFrom('queue')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('lease', 'is not', null)
    .executeTakeFirstOrThrow()
  return n
}

/**
 * Lets time pass in steps; after each step, due work is done and on disk. A jump of hours would overtake an attempt
 * whose commit takes long, and with it the next due time.
 */
export async function pass(
  rig: OutboundRig,
  clock: FakeClock,
  ms: number,
  stepMs = 60_000,
): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    await clock.advance(Math.min(left, stepMs))
    // One turn finds the route, the next claims; the second write comes after what the first one woke.
    for (let turn = 0; turn < 2; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      await rig.store.write(async () => {})
    }
    await rig.eventually(async () => (await leased(rig)) === 0)
    await rig.store.write(async () => {})
  }
}

// These tests send raw HTML.
const noRenderer: Renderer = {
  render: async () => ({ kind: 'unavailable', cause: 'no renderer here' }),
  close: async () => {},
}
