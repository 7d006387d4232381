import { isoTime } from '../clock/index.js'
import { consentHistory } from '../consent/index.js'
import type { BodyOf } from '../contract/index.js'
import { parseMailbox } from '../mime/index.js'
import { pageOf, type Read, type Tx, textCursorOf, textInCursor } from '../store/index.js'
import type { addSuppression } from './contract.js'
import { listSuppressions, suppressionsOf } from './list.js'
import {
  type NewSuppression,
  type Suppression,
  type SuppressionReason,
  suppress,
} from './suppress.js'

// How many of the last entries of an address's history are shown.
const maxHistory = 200

/** The new record for what was given, or what is wrong with it. */
export function newSuppression({
  email,
  reason = 'manual',
  scope,
  detail,
}: BodyOf<typeof addSuppression>): NewSuppression | string {
  const mailbox = parseMailbox(email)
  if (mailbox === undefined) return `"${email.slice(0, 80)}" is not an email address`
  return { email: mailbox.address.toLowerCase(), reason, scope, detail: detail || null }
}

/** Makes a record, unless it exists; resolves with the record and whether anything is new. */
export async function addedSuppression(
  tx: Tx,
  accountId: string,
  given: NewSuppression,
  now: number,
) {
  const isNew = await suppress(tx, accountId, given, now)
  const records = await suppressionsOf(tx, accountId, given.email)
  return {
    isNew,
    answer: records.filter(({ reason }) => reason === given.reason).map(shownSuppression)[0],
  }
}

/** Which page of an account's records; `cursor` comes from the page before, with the same reason. */
export interface SuppressionPageOptions {
  reason?: SuppressionReason | undefined
  limit: number
  cursor?: string | undefined
}

/** A page of an account's records, by address and reason. */
export async function suppressionPage(
  read: Read,
  accountId: string,
  { reason, limit, cursor }: SuppressionPageOptions,
) {
  const scope = `suppressions ${accountId} ${reason ?? ''}`
  const after = cursor === undefined ? undefined : lastIn(textInCursor(cursor, scope))
  const found = await listSuppressions(read, accountId, { reason, after, limit: limit + 1 })
  return pageOf(found, limit, (last) => textCursorOf(`${last.reason} ${last.email}`, scope))
}

/** What `textCursorOf` was given. */
function lastIn(text: string): Pick<Suppression, 'email' | 'reason'> {
  const at = text.indexOf(' ')
  return { reason: text.slice(0, at) as SuppressionReason, email: text.slice(at + 1) }
}

/** The same, as the API and the command answer it. */
export async function suppressionsAnswer(
  read: Read,
  accountId: string,
  options: SuppressionPageOptions,
) {
  const { page, ...more } = await suppressionPage(read, accountId, options)
  return { suppressions: page.map(shownSuppression), ...more }
}

/** Why an address, in lower case, is mailed or is not. */
export async function addressAnswer(read: Read, accountId: string, email: string) {
  const records = await suppressionsOf(read, accountId, email)
  const history = (await consentHistory(read, accountId, email)).slice(-maxHistory)
  return {
    email,
    blocks: records.some(({ scope }) => scope === 'all') ? 'all' : (records[0]?.scope ?? null),
    suppressions: records.map(shownSuppression),
    history: history.map(({ at, kind, detail }) => ({ at: isoTime(at), kind, detail })),
  }
}

/** The answer after so many records of an address were taken back. */
export const removedSuppression = (email: string, removed: number) => ({
  email,
  removed,
  message: 'The address may be mailed again',
})

/** A record as the API and commands show it. */
export const shownSuppression = ({ createdAt, expiresAt, ...record }: Suppression) => ({
  ...record,
  createdAt: isoTime(createdAt),
  expiresAt: isoTime(expiresAt),
})
