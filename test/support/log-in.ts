import { applianceKeyFile } from '../../src/app/index.js'
import { openApplianceKey } from '../../src/config/index.js'
import { type MemberRole, sessionCookie } from '../../src/people/index.js'
import { insertPerson } from '../../src/people/person.js'
import { beginSession } from '../../src/people/session.js'
import type { Store } from '../../src/store/index.js'
import { asRead } from './as-read.js'

/** Somebody who is logged in, at the pages of an appliance. */
export interface LoggedIn {
  cookie: string
  get(path: string, headers?: Record<string, string>): Promise<PageAnswer>
  /** Posts like a browser with a form of our own page. */
  post(
    path: string,
    fields?: Record<string, string | readonly string[]> | FormData,
    headers?: Record<string, string>,
  ): Promise<PageAnswer>
}

export interface PageAnswer {
  status: number
  headers: Headers
  text: string
  /** Where a redirect leads. */
  to: string
}

/** Makes a person with this role in the account (`operator`: of the appliance, in no account) and logs them in. */
export async function logIn(
  appliance: { url: string; dataDir: string; store: Store },
  accountId: string,
  role: MemberRole | 'operator',
  now = Date.now(),
): Promise<LoggedIn> {
  const { store } = appliance
  const id = store.ids.uuid()
  const token = await store.write(async (tx) => {
    const person = { id, email: `${role}-${id}@people.test`, name: `The ${role}`, password: null }
    await insertPerson(tx, { ...person, isProved: true, isOperator: role === 'operator', now })
    if (role !== 'operator') {
      await tx
        .insertInto('memberships')
        .values({ user_id: id, account_id: accountId, role, created_at: now })
        .execute()
    }
    const visitor = { clientAddressKey: '127.0.0.1', agent: 'test' }
    const session = { id: `${id}-session`, userId: id, state: 'open', visitor } as const
    return await beginSession(tx, { ...session, replaces: undefined, now })
  })
  const key = openApplianceKey(applianceKeyFile(appliance.dataDir))
  const plain = { isSecure: false, cookie: () => undefined }
  const [cookie = ''] = sessionCookie(key).set(plain, token).split(';')
  const ask = async (path: string, init: RequestInit): Promise<PageAnswer> => {
    const response = await fetch(appliance.url + path, { redirect: 'manual', ...init })
    const { status, headers } = response
    return {
      status,
      headers,
      text: asRead(await response.text()),
      to: headers.get('location') ?? '',
    }
  }
  return {
    cookie,
    get: (path, headers = {}) => ask(path, { headers: { cookie, ...headers } }),
    post: (path, fields = {}, headers = {}) =>
      ask(path, {
        method: 'POST',
        body:
          fields instanceof FormData
            ? fields
            : new URLSearchParams(
                Object.entries(fields).flatMap(([name, value]) =>
                  [value].flat().map((one): [string, string] => [name, one]),
                ),
              ),
        headers: { cookie, 'sec-fetch-site': 'same-origin', ...headers },
      }),
  }
}
