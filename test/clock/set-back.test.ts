// What is remembered in memory alone while the clock is a month ahead refuses nothing for long once it is set back.
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { createAccount, createKey, makeAuthenticate } from '../../src/accounts/index.js'
import { dayMs, hourMs } from '../../src/clock/index.js'
import { makeLive } from '../../src/dashboard/live/live.js'
import { accountDoor, type DoorDeps } from '../../src/dashboard/shell/doors.js'
import { silentLog } from '../../src/log/index.js'
import { makeFailureLimits, makeInvitationMails } from '../../src/people/failure-limits.js'
import { makeGate, makeQuota } from '../../src/smtpd/index.js'
import type { SessionCourse } from '../../src/submission/session.js'
import { openSessionLog } from '../../src/submission/session-log.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

const aheadMs = 30 * dayMs

/** What remembers: `use` until it holds something against the next one, and whether the next one is free of it. */
interface Remembering {
  use(): unknown
  isFree(): Promise<boolean> | boolean
}

const places: Record<string, (t: Test, clock: FakeClock) => Remembering | Promise<Remembering>> = {
  'a quota of a listener': (_, clock) => {
    const quota = makeQuota(clock, { most: 3, windowMs: hourMs })
    return { use: () => quota.take('a', 3), isFree: () => quota.has('a', 1) }
  },

  'the patience with sessions that do not get on': (_, clock) => {
    const gate = makeGate({
      connections: 10,
      perAddress: 2,
      perNetwork: 2,
      idleMs: 600_000,
      now: () => clock.now(),
      limit: () => () => {},
    })
    let sources = 0
    const connect = () => {
      const socket = new EventEmitter()
      const own = { remoteAddress: `192.0.${++sources}.1`, remotePort: 1_000, destroy() {} }
      gate.admit(Object.assign(socket, own) as unknown as Socket)
      return socket
    }
    return {
      use: () => Array.from({ length: 6 }, connect),
      isFree() {
        // A newcomer is what has the others looked at.
        connect().emit('close')
        return gate.connections === 0
      },
    }
  },

  'when a key was used last': async (t, clock) => {
    const store = await openTestStore(t, { clock })
    const account = await createAccount({ store, clock }, 'City')
    const { key } = await createKey({ store, clock }, account.id, 'web')
    const authenticate = makeAuthenticate({ store, clock })
    const use = async () => {
      await authenticate(`Bearer ${key}`)
      // The write is not waited for; this one comes after it.
      await store.write(async () => {})
    }
    return {
      use,
      async isFree() {
        await clock.advance(1)
        await use()
        const row = store.read.selectFrom('api_keys').select('last_used_at')
        return (await row.executeTakeFirstOrThrow()).last_used_at === clock.now()
      },
    }
  },

  'an operator’s look into an account': (_, clock) => {
    let noted = 0
    const people = {
      sessionOf: async () => ({ id: 's', person: {}, mustAddFactor: false }),
      roleIn: async () => ({ account: { id: 'a', name: 'City' }, role: 'operator' }),
      may: () => true,
      actorOf: () => 'olga',
      note: async () => noted++,
    }
    const deps = { clock, people, sandbox: false, isThere: () => true } as unknown as DoorDeps
    const door = accountDoor(deps)
    type Asked = Parameters<typeof door.admit>[0]
    const look = async () => {
      await door.admit(
        { request: {}, params: { account: 'a' } } as unknown as Asked,
        'account.read',
      )
      return noted
    }
    return { use: look, isFree: async () => noted < (await look()) }
  },

  'whether who listens is still logged in': (t, clock) => {
    const live = makeLive({ store: { commits: () => 1 }, clock })
    let asked = 0
    const gone = new AbortController()
    t.teardown(() => gone.abort())
    const lasts = async () => ++asked > 0
    return {
      async use() {
        const stream = live.open({ sessionId: 's', personId: 'p', lasts }, gone.signal)
        const drain = async () => {
          for await (const _ of stream ?? []);
        }
        void drain()
        await clock.advance(0)
      },
      isFree: () => asked > 0,
    }
  },

  'how many sessions are kept': async (t, clock) => {
    const store = await openTestStore(t, { clock })
    const sessions = openSessionLog({ store, clock, log: silentLog }, 10)
    const course: SessionCourse = {
      listener: 'starttls',
      beganAt: clock.now(),
      client: undefined,
      user: undefined,
      tls: undefined,
      recipients: new Map(),
      mailFrom: '',
      accepted: 0,
      refused: 0,
      emailIds: [],
      replaced: new Set(),
      lastRefusal: undefined,
      transcript: { add() {}, text: () => '' },
    }
    const use = async () => {
      const session = { remoteAddress: '192.0.2.1', hostNameAppearsAs: 'scanner' }
      for (let i = 0; i < 3; i++) sessions.add(session as never, course)
      await clock.advance(500)
      // Rows, and what trims them, are each a write that is not waited for.
      for (let i = 0; i < 5; i++) await store.write(async () => {})
    }
    return {
      use,
      async isFree() {
        await use()
        const rows = await store.read.selectFrom('submission_sessions').select('id').execute()
        return rows.length === 1
      },
    }
  },

  'who guessed at a password': (_, clock) => {
    const limits = makeFailureLimits(clock)
    const from = { clientAddressKey: '192.0.2.1/32', who: 'olga' }
    return {
      use() {
        for (let i = 0; i < 25; i++) limits.take(from)
      },
      isFree: () => limits.take(from) === 0,
    }
  },

  'how many were invited': (_, clock) => {
    const mails = makeInvitationMails(clock)
    return {
      use() {
        for (let i = 0; i < 3; i++) mails.take('a', 'ann@one.test')
      },
      isFree: () => mails.take('a', 'ann@one.test'),
    }
  },
}

for (const [name, open] of Object.entries(places)) {
  t.test(`${name}: held for two minutes at most after the clock was set back`, async (t) => {
    const clock = new FakeClock()
    const place = await open(t, clock)
    clock.jump(aheadMs)
    await place.use()
    t.equal(await place.isFree(), false, 'it is remembered')
    clock.setBack(aheadMs)
    let isFree = await place.isFree()
    for (let waitedMs = 0; !isFree && waitedMs < 120_000; waitedMs += 30_000) {
      await clock.advance(30_000)
      isFree = await place.isFree()
    }
    t.ok(isFree)
  })
}
