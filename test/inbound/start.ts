import type { Test } from 'tap'
import { makeEffects } from '../../src/app/effects.js'
import { readAgain } from '../../src/app/files.js'
import { loadPlans } from '../../src/billing/index.js'
import { openCertificates } from '../../src/certificates/index.js'
import { type Clock, systemClock } from '../../src/clock/index.js'
import { type Config, loadConfig, makeApplianceKey, packageFile } from '../../src/config/index.js'
import { makeReturnPaths } from '../../src/deliveries/index.js'
import type { Resolver } from '../../src/dns/index.js'
import { openInbound } from '../../src/inbound/index.js'
import { silentLog } from '../../src/log/index.js'
import { silentMeter } from '../../src/metrics/index.js'
import { loadBounceRules, loadFeedbackLoops } from '../../src/reports/index.js'
import type { Store } from '../../src/store/index.js'
import { Talk } from '../sandbox/talk.js'
import { fakeResolver } from '../support/resolver.js'
import { makeTempDir, openTestStore } from '../support/store.js'

export const returnPaths = makeReturnPaths(makeApplianceKey(Buffer.alloc(32, 7)))
export const returnHost = 'bounce.sender.test'
export const dayMs = 86_400_000

export interface StartedInbound {
  store: Store
  port: number
  reload(): void
  /** A new session, after its greeting; from `127.0.0.1` unless said otherwise. */
  talk(from?: string): Promise<Talk>
  /** What the listener says to a newcomer. */
  greeting(from?: string): Promise<string>
  /** Gives a mail in over SMTP and resolves with the last reply. */
  give(
    message: string | Buffer,
    recipients: string | string[],
    from?: string,
    address?: string,
  ): Promise<string>
  /** What it has counted, as `name label`, and logged. */
  counted: Map<string, number>
  told: object[]
  close(): Promise<void>
}

/** The listener on a free port over a real database, closed at the end of the test. */
export async function startInbound(
  t: Test,
  options: {
    clock?: Clock
    store?: Store
    config?: Partial<Config['inbound']>
    /** False: the thread that reads cannot start, so what arrives stays in the spool. */
    reads?: boolean
    resolver?: Resolver
    /** The file of feedback loops. */
    loopFile?: string
  } = {},
): Promise<StartedInbound> {
  const { clock = systemClock } = options
  const store = options.store ?? (await openTestStore(t, { clock }))
  const counted = new Map<string, number>()
  const told: object[] = []
  const plans = loadPlans(packageFile('config/plans.toml'))
  const { inbound: defaults } = loadConfig({ env: {} })
  const readLoops = () =>
    loadFeedbackLoops([options.loopFile ?? packageFile('config/feedback-loops.toml')])
  const rules = {
    bounceRules: loadBounceRules([packageFile('config/bounce-rules.toml')]),
    feedbackLoops: readLoops(),
  }
  const inbound = await openInbound({
    store,
    clock,
    log: { ...silentLog, info: (fields, message) => told.push({ ...fields, message }) },
    meter: {
      ...silentMeter,
      count(name, labels) {
        const key = [name, ...Object.values(labels)].join(' ')
        counted.set(key, (counted.get(key) ?? 0) + 1)
      },
    },
    returnPaths,
    certificates: openCertificates({
      dataDir: makeTempDir(t),
      log: silentLog,
      usual: '',
      files: options.config?.tls === undefined ? [] : [options.config.tls],
    }),
    config: { ...defaults, host: '127.0.0.1', port: 0, ...options.config },
    hosts: ['mail.posthorn.test', 'returns.posthorn.test'],
    tokenLifeMs: 65 * dayMs,
    judging() {
      if (options.reads === false) throw new Error('Nothing is read')
      return rules
    },
    resolver: options.resolver ?? fakeResolver(),
    land: makeEffects(loadConfig({ env: {} }), plans),
    plans,
    key: makeApplianceKey(Buffer.alloc(32, 7)),
    retry: loadConfig({ env: {} }).outbound.retry,
    ring: () => {},
  })
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= inbound.close()
    return closed
  }
  t.teardown(close)
  const talk = async (from?: string) => (await Talk.greeted(t, inbound.port, from)).talk
  return {
    store,
    port: inbound.port,
    counted,
    told,
    reload() {
      readAgain(silentLog, readLoops, (feedbackLoops) => Object.assign(rules, { feedbackLoops }))
      inbound.reload()
    },
    talk,
    greeting: async (from) => (await Talk.greeted(t, inbound.port, from)).greeting,
    async give(message, recipients, from = '', address = '127.0.0.1') {
      const client = await talk(address)
      await client.say('EHLO client.test')
      await client.say(`MAIL FROM:<${from}>`)
      for (const recipient of [recipients].flat()) {
        const reply = await client.say(`RCPT TO:<${recipient}>`)
        if (!reply.startsWith('250')) return reply
      }
      await client.say('DATA')
      client.write(message)
      const reply = await client.say('\r\n.')
      await client.say('QUIT')
      return reply
    },
    close,
  }
}

/** A return path as a delivery of this store, accepted at `store`'s present, would have it. */
export const returnPathOf = (store: Store, host = returnHost) =>
  returnPaths.addressOf(store.ids.serial(), host)
