import { scryptSync } from 'node:crypto'
import type { Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { type ApplianceKey, makeApplianceKey } from '../../src/config/index.js'
import { auditPages } from '../../src/dashboard/audit/routes.js'
import { entryPages } from '../../src/dashboard/entry/routes.js'
import { ownMemory } from '../../src/dashboard/shell/node-memory.js'
import { makeShell } from '../../src/dashboard/shell/page.js'
import { peopleOf } from '../../src/dashboard/shell/people.js'
import { teamPages } from '../../src/dashboard/team/routes.js'
import { openHttpServer } from '../../src/http/index.js'
import { silentLog } from '../../src/log/index.js'
import {
  type Derive,
  makePasswords,
  makePeople,
  type PeopleDeps,
  sessionCookie,
  type TrustedProvider,
} from '../../src/people/index.js'
import type { Store } from '../../src/store/index.js'
import { FakeClock } from './clock.js'
import { openTestStore } from './store.js'

export interface StartedPeople {
  url: string
  store: Store
  clock: FakeClock
  people: PeopleDeps
  accountId: string
  /** What scrypt was asked for, in order: the parameters of each call. */
  derived: string[]
  /** What the appliance mailed in its own name. */
  mailed: Notice[]
}

type Notice = { to: string; subject: string; text: string }

/** The pages of people over a real socket, with a clock that stands still and a scrypt that costs nothing. */
export async function startPeople(
  t: Test,
  options: {
    asksFactorOfOperators?: boolean
    derive?: Derive
    sandbox?: boolean
    hostNames?: string[]
    provider?: (made: { clock: FakeClock; key: ApplianceKey }) => TrustedProvider
  } = {},
): Promise<StartedPeople> {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const { id: accountId } = await createAccount({ store, clock }, 'City library')
  const derived: string[] = []
  const cheap: Derive = async (password, salt, bytes, { N, r, p }) => {
    derived.push(`${N} ${r} ${p} ${salt.length} ${bytes}`)
    return scryptSync(password, salt, bytes, { N: 2, r: 1, p: 1 })
  }
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  const people = makePeople({
    store,
    clock,
    key,
    asksFactorOfOperators: options.asksFactorOfOperators ?? false,
    passwords: makePasswords(options.derive ?? cheap),
  })
  const server = await openHttpServer<never>({
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    clock,
    trustedProxies: ['127.0.0.1'],
  })
  const shell = makeShell(server.pages, { clock, people: peopleOf(people), sandbox: false })
  const provider = options.provider?.({ clock, key })
  const deps = {
    people,
    cookie: sessionCookie(people.key),
    plainHttp: false,
    provider,
    memory: ownMemory(),
  }
  entryPages(shell, deps)
  const mailed: Notice[] = []
  const sendNotice = async (mail: Notice) => mailed.push(mail) > 0
  teamPages(shell.account, {
    ...deps,
    sandbox: options.sandbox ?? false,
    sendNotice,
    hostNames: options.hostNames ?? ['127.0.0.1'],
  })
  auditPages(shell, deps)
  await server.listen()
  t.teardown(() => server.close(0))
  return {
    url: `http://127.0.0.1:${server.port}`,
    store,
    clock,
    people,
    accountId,
    derived,
    mailed,
  }
}
