import type { Test } from 'tap'
import type { Clock } from '../../src/clock/index.js'
import { makeSetupLink } from '../../src/people/index.js'
import type { Store } from '../../src/store/index.js'
import { asRead } from './as-read.js'

/** A page's answer to a person's browser. */
export interface Got {
  status: number
  headers: Headers
  text: string
  /** Where it leads, if anywhere. */
  to: string | undefined
  cookies: string[]
}

/** A browser without a window: keeps cookies, sends what browsers send, follows nothing by itself. */
export interface Browser {
  cookies: Map<string, string>
  get(path: string, headers?: Record<string, string>): Promise<Got>
  post(path: string, form?: Record<string, string>, headers?: Record<string, string>): Promise<Got>
}

export function openBrowser(
  url: string,
  agent = 'Mozilla/5.0 (X11; Linux) Firefox/140.0',
): Browser {
  const cookies = new Map<string, string>()
  const ask = async (path: string, init: RequestInit): Promise<Got> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { 'user-agent': agent, cookie, ...(init.headers as Record<string, string>) }
    const response = await fetch(url + path, { redirect: 'manual', ...init, headers })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/Max-Age=0/.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return {
      status: response.status,
      headers: response.headers,
      text: asRead(await response.text()),
      to: response.headers.get('location') ?? undefined,
      cookies: response.headers.getSetCookie(),
    }
  }
  return {
    cookies,
    get: (path, headers = {}) => ask(path, { headers }),
    post: (path, form = {}, headers = {}) =>
      ask(path, {
        method: 'POST',
        body: new URLSearchParams(form).toString(),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
          ...headers,
        },
      }),
  }
}

export const goodPassword = 'seven tall ships at dawn'

/** The first operator, who also owns the only account, logged in at a browser of their own. */
export async function firstOperator(
  t: Test,
  { url, store }: { url: string; store: Store },
  clock: Clock,
): Promise<Browser> {
  const path = await store.write((tx) => makeSetupLink(tx, clock.now()))
  const browser = openBrowser(url)
  const form = { name: 'Olga', email: 'olga@example.test', password: goodPassword }
  const { status } = await browser.post(path, form)
  t.equal(status, 303, 'the first operator is in')
  return browser
}
