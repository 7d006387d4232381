import type { Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { systemClock } from '../../src/clock/index.js'
import { makeShell, type Shell } from '../../src/dashboard/shell/page.js'
import type { People, Session } from '../../src/dashboard/shell/people.js'
import { openHttpServer } from '../../src/http/index.js'
import { silentLog } from '../../src/log/index.js'
import { may, type Role } from '../../src/people/index.js'
import type { Store } from '../../src/store/index.js'
import { asRead } from '../support/as-read.js'
import { openTestStore } from '../support/store.js'

export type Who = Role | 'stranger' | 'nobody'

export interface AccountPagesRig {
  store: Store
  accountId: string
  /** Another account, of which `stranger` is the owner. */
  otherId: string
  noted: Parameters<People['note']>[0][]
  get(path: string, who?: Who): Promise<Got>
  /** A form, as a browser sends it from a page of ours; several values of a name as an array. */
  post(
    path: string,
    form?: Record<string, string | string[]> | FormData,
    who?: Who,
    headers?: Record<string, string>,
  ): Promise<Got>
  /** What the page at the end of a redirect says. */
  follow(got: Got, who?: Who): Promise<Got>
  /** Takes the short rise of rights away from everybody. */
  endSudo(): void
}

export interface Got {
  status: number
  headers: Headers
  text: string
  /** Where it leads, or empty. */
  location: string
}

/** Pages of two accounts over real HTTP, where a cookie is the whole log-in. Paths are below `/a/<account>`. */
export async function startAccountPages(
  t: Test,
  add: (shell: Shell, deps: { store: Store; accountId: string }) => void | Promise<void>,
): Promise<AccountPagesRig> {
  const store = await openTestStore(t)
  const clock = systemClock
  const account = await createAccount({ store, clock }, 'Shop')
  const other = await createAccount({ store, clock }, 'Other')
  const noted: AccountPagesRig['noted'] = []
  let sudoUntil = Number.MAX_SAFE_INTEGER
  const roles: Record<string, [string, Role]> = {
    owner: [account.id, 'owner'],
    member: [account.id, 'member'],
    viewer: [account.id, 'viewer'],
    stranger: [other.id, 'owner'],
  }
  const sessionOf = (who: string): Session | undefined => {
    if (roles[who] === undefined && who !== 'operator') return undefined
    const isOperator = who === 'operator'
    const person = { id: who, name: who, email: `${who}@people.test`, isOperator, timeZone: null }
    return { id: who, sudoUntil, createdAt: 0, mustAddFactor: false, person }
  }
  const people: People = {
    sessionOf: async (request) => sessionOf(request.cookie('who') ?? ''),
    async roleIn({ id, isOperator }, accountId) {
      const named = { id: accountId, name: accountId === account.id ? 'Shop' : 'Other' }
      const [own, role] = roles[id] ?? []
      if (role !== undefined && own === accountId) return { account: named, role }
      return isOperator ? { account: named, role: 'operator' } : undefined
    },
    membershipsOf: async () => [],
    may,
    actorOf: ({ person }) => ({
      kind: 'user',
      userId: person.id,
      name: person.name,
      clientAddressKey: null,
    }),
    note: async (entry) => {
      noted.push(entry)
    },
  }
  const server = await openHttpServer<never>({
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    clock,
    trustedProxies: ['127.0.0.1'],
  })
  await add(makeShell(server.pages, { clock, people, sandbox: false }), {
    store,
    accountId: account.id,
  })
  await server.listen()
  t.teardown(() => server.close(0))
  const origin = `http://127.0.0.1:${server.port}`
  const ask = async (path: string, who: Who, init: RequestInit = {}): Promise<Got> => {
    const url = path.startsWith('/a/') ? path : `/a/${account.id}${path}`
    const headers = { cookie: `who=${who}`, ...init.headers }
    const response = await fetch(origin + url, { redirect: 'manual', ...init, headers })
    const location = response.headers.get('location') ?? ''
    const { status } = response
    return { status, headers: response.headers, text: asRead(await response.text()), location }
  }
  return {
    store,
    accountId: account.id,
    otherId: other.id,
    noted,
    get: (path, who = 'owner') => ask(path, who),
    post(path, form = {}, who = 'owner', more = {}) {
      const pairs = Object.entries(form).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, one]),
      )
      const body = form instanceof FormData ? form : new URLSearchParams(pairs)
      const headers = { 'sec-fetch-site': 'same-origin', ...more }
      return ask(path, who, { method: 'POST', body, headers })
    },
    async follow(got, who = 'owner') {
      const [cookie = ''] = got.headers.getSetCookie().map((one) => one.split(';')[0])
      return ask(got.location, who, { headers: { cookie: `who=${who}; ${cookie}` } })
    },
    endSudo() {
      sudoUntil = 0
    },
  }
}

/** What must be found in no page as it is: each field that customers write gets it. */
export const hostile = `"><img src=x onerror=alert(1)><script>alert('x')</script>{{7*7}}`

/** Fails for markup of `hostile` that a page has let through. */
export function isTame(t: Test, { text }: Got, message: string): void {
  t.notMatch(text, /<img src=x|<script>alert/, message)
}

/** The value of a hidden field. */
export function hidden({ text }: Got, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? ''
}
