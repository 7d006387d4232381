import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import { applianceKeyFile } from '../../src/app/index.js'
import { type Clock, systemClock } from '../../src/clock/index.js'
import { openApplianceKey } from '../../src/config/index.js'
import { makeSignupTokens } from '../../src/forms/index.js'
import { workBits } from '../../src/forms/work.js'
import { type Posthorn, startPosthorn } from './posthorn.js'

/** An appliance that trusts its proxy about clients' addresses, and counts its simulator's bounces. */
export async function startWithForms(t: Test, clock: Clock = systemClock): Promise<Posthorn> {
  return await startPosthorn(t, {
    clock,
    env: {
      POSTHORN_HTTP_TRUSTED_PROXIES: '127.0.0.1',
      POSTHORN_PROTECTION_COUNT_SIMULATOR: 'true',
    },
  })
}

/** The stamp of a page that was shown a few seconds ago. */
export function stampOf(
  { dataDir }: Posthorn,
  page: string,
  from = '',
  now: () => number = Date.now,
): string {
  const key = openApplianceKey(applianceKeyFile(dataDir))
  const clock = { now: () => now() - 3_000, after: systemClock.after }
  return makeSignupTokens(key, clock).stamp(page.split('/').at(-1) ?? '', from)
}

/** The link that the mail of an entry has, for mails that have not left. */
export function linkOf({ dataDir, publicUrl }: Posthorn, entryId: string): string {
  const key = openApplianceKey(applianceKeyFile(dataDir))
  return `${publicUrl}/confirm/${makeSignupTokens(key, systemClock).confirmation(entryId)}`
}

/** The consent text of the forms of `makeForm`. */
const consent = 'I would like <b>news</b>.'

export async function makeForm(posthorn: Posthorn, more: object = {}) {
  const list = await posthorn.call('POST', '/v1/contacts/lists', { body: { name: 'Readers' } })
  const body = {
    name: 'Sign up',
    lists: [list.json.id],
    consent,
    from: 'news@sender.test',
    ...more,
  }
  const { status, json, text } = await posthorn.call('POST', '/v1/forms', { body })
  if (status !== 201) throw new Error(text)
  const path = new URL(json.address).pathname
  return { ...json, listId: list.json.id, page: `${posthorn.publicUrl}${path}` }
}

export interface Sent {
  from?: string
  stamp?: string
  fields?: Record<string, string>
}

/** Somebody fills in the hosted page, a few seconds after it was shown. */
export async function fillIn(
  posthorn: Posthorn,
  page: string,
  email: string,
  { from = '192.0.2.1', stamp, fields }: Sent = {},
) {
  const body = new URLSearchParams({
    email,
    agreed: 'yes',
    stamp: stamp ?? stampOf(posthorn, page),
    ...fields,
  })
  const headers = { 'x-forwarded-for': from }
  const response = await fetch(page, { method: 'POST', body, headers })
  return { status: response.status, html: await response.text() }
}

/** The link in the mail to an address. */
export async function linkTo({ url }: Posthorn, address: string): Promise<string> {
  const query = new URLSearchParams({ to: address, timeout: '10s' })
  const found = await (await fetch(`${url}/sandbox/wait.json?${query}`)).json()
  const link = /https?:\/\/\S+\/confirm\/[\w.-]+/.exec(JSON.stringify(found))?.[0]
  if (link === undefined) throw new Error(`No link in ${JSON.stringify(found)}`)
  return link
}

/** The proof of work that a page's script finds for an address. */
export function workFor(stamp: string, email: string): string {
  for (let n = 0; ; n++) {
    const hash = createHash('sha256').update(`${stamp} ${email} ${n}`).digest()
    if (Math.clz32(hash.readUInt32BE(0)) >= workBits) return String(n)
  }
}
