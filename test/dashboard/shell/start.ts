import type { Test } from 'tap'
import { type Clock, systemClock } from '../../../src/clock/index.js'
import { makeShell, type Shell } from '../../../src/dashboard/shell/page.js'
import type { People, Session } from '../../../src/dashboard/shell/people.js'
import { openHttpServer } from '../../../src/http/index.js'
import { silentLog } from '../../../src/log/index.js'
import type { Membership } from '../../../src/people/index.js'
import { asRead } from '../../support/as-read.js'

/** Two people: an owner of account `one`, and an operator. The cookie `who` is the whole log-in. */
export const sessions: Record<string, Session> = {
  owner: sessionOf('owner', false),
  viewer: sessionOf('viewer', false),
  operator: sessionOf('operator', true),
}
const roles: Record<string, Membership[]> = {
  owner: [{ accountId: 'one', accountName: 'Account <one>', role: 'owner' }],
  viewer: [{ accountId: 'one', accountName: 'Account <one>', role: 'viewer' }],
}

export interface StartedShell {
  url: string
  noted: Parameters<People['note']>[0][]
  get(path: string, who?: string, headers?: Record<string, string>): Promise<Got>
  post(path: string, body: string, headers?: Record<string, string>): Promise<Got>
}

export interface Got {
  status: number
  headers: Headers
  text: string
  cookie: string
}

/** A server with pages that `add` makes, and people who need no password. `accountId` is what `one` is called there. */
export async function startShell(
  t: Test,
  add: (shell: Shell) => void,
  { clock = systemClock, accountId: one = 'one' }: { clock?: Clock; accountId?: string } = {},
): Promise<StartedShell> {
  const noted: StartedShell['noted'] = []
  const people: People = {
    sessionOf: async (request) => sessions[request.cookie('who') ?? ''],
    async roleIn(person, accountId) {
      const asked = accountId === one ? 'one' : undefined
      const [found] = (roles[person.id] ?? []).filter((role) => role.accountId === asked)
      if (found !== undefined) {
        return { account: { id: accountId, name: found.accountName }, role: found.role }
      }
      if (!person.isOperator || asked === undefined) return undefined
      return { account: { id: accountId, name: 'Account <one>' }, role: 'operator' }
    },
    membershipsOf: async (id) => roles[id] ?? [],
    may: (role, action) => role === 'owner' || action.endsWith('.read'),
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
    clock: systemClock,
  })
  add(makeShell(server.pages, { clock, people, sandbox: false }))
  await server.listen()
  t.teardown(() => server.close(0))
  const url = `http://127.0.0.1:${server.port}`
  const ask = async (path: string, init: RequestInit): Promise<Got> => {
    const response = await fetch(url + path, { redirect: 'manual', ...init })
    const cookie = response.headers.getSetCookie().join('; ')
    const { status, headers } = response
    return { status, headers, text: asRead(await response.text()), cookie }
  }
  return {
    url,
    noted,
    get: (path, who = '', headers = {}) =>
      ask(path, { headers: { cookie: `who=${who}`, ...headers } }),
    post: (path, body, headers = {}) =>
      ask(path, {
        method: 'POST',
        body,
        headers: {
          cookie: 'who=owner',
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
          ...headers,
        },
      }),
  }
}

function sessionOf(id: string, isOperator: boolean): Session {
  return {
    id,
    createdAt: 0,
    sudoUntil: 0,
    mustAddFactor: false,
    person: { id, name: `Person ${id}`, email: `${id}@example.test`, isOperator, timeZone: null },
  }
}
