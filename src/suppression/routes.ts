import { enums, optional, string, type } from 'superstruct'
import type { Principal } from '../accounts/index.js'
import { type Clock, isoTime } from '../clock/index.js'
import { consentHistory } from '../consent/index.js'
import { ApiError } from '../errors/index.js'
import { described, listOf, QueryInteger, rule } from '../fields/index.js'
import { type Api, reply } from '../http/index.js'
import { parseMailbox } from '../mime/index.js'
import { pageOf, type Store, type Tx, textCursorOf, textInCursor } from '../store/index.js'
import { listSuppressions, suppressionsOf } from './list.js'
import {
  lift,
  type NewSuppression,
  type Suppression,
  type SuppressionReason,
  suppress,
  suppressionReasons,
} from './suppress.js'

/** What the routes need. */
export interface SuppressionRouteDeps {
  store: Store
  clock: Clock
}

// Records a page without `limit`, and with the largest one.
const usualPage = 100
const maxPage = 500
// Addresses a request; more of them go in several, or by the command line as a file.
const maxImported = 1_000
// Addresses a transaction: a few milliseconds, in which mail that is being accepted waits.
const perWrite = 200
// The last entries of an address's history that are shown.
const maxHistory = 200

// Whether it is an address is told by a 422 that names the field, not by the shape of the body.
const Text = rule<string>('a string', (value) => typeof value === 'string')
const Reason = described(enums(suppressionReasons), suppressionReasons.join(', '))
const Scope = described(enums(['all', 'marketing']), 'all or marketing')
const Detail = rule<string>(
  'a string of at most 1,000 characters',
  (value) => typeof value === 'string' && value.length <= 1_000,
)
const Item = type({
  email: Text,
  reason: optional(Reason),
  scope: optional(Scope),
  detail: optional(Detail),
})
const ImportBody = type({ suppressions: listOf(Item, maxImported, 1) })
const ListQuery = type({
  reason: optional(Reason),
  limit: optional(QueryInteger(1, maxPage)),
  cursor: optional(Text),
})
const AddressParams = {
  params: type({ email: string() }),
  notFound: 'This is not an email address',
}
const ReasonQuery = { query: type({ reason: optional(Reason) }) }

/** Who must not be mailed, and why, by the API; an account that may add nothing may still suppress. */
export function suppressionRoutes(
  api: Api<Principal>,
  { store, clock }: SuppressionRouteDeps,
): void {
  const { read } = store

  api.get('/v1/suppressions', { query: ListQuery }, async ({ account: { accountId }, query }) => {
    const { reason, limit = usualPage, cursor } = query
    const scope = `suppressions ${accountId} ${reason ?? ''}`
    const after = cursor === undefined ? undefined : lastIn(textInCursor(cursor, scope))
    const found = await listSuppressions(read, accountId, { reason, after, limit: limit + 1 })
    const { page, ...more } = pageOf(found, limit, (last) =>
      textCursorOf(`${last.reason} ${last.email}`, scope),
    )
    return { suppressions: page.map(shown), ...more }
  })

  api.post('/v1/suppressions', { body: Item }, async ({ account, body, remember }) => {
    const given = readItem(body)
    if (typeof given === 'string') {
      throw new ApiError('validation_error', given, { status: 422, fields: { field: 'email' } })
    }
    const { accountId } = account
    const { status, answer } = await store.write(async (tx) => {
      const isNew = await suppress(tx, accountId, given, clock.now())
      const records = await suppressionsOf(tx, accountId, given.email)
      const [record] = records.filter(({ reason }) => reason === given.reason).map(shown)
      const status = isNew ? 201 : 200
      await remember(tx, record, status)
      return { status, answer: record }
    })
    return reply(status, answer)
  })

  api.post('/v1/suppressions/import', { body: ImportBody }, async (request) => {
    const { account, body, remember } = request
    const items = body.suppressions.map(readItem)
    const good = items.filter((item) => typeof item !== 'string')
    const refused = items.flatMap((error, index) =>
      typeof error === 'string' ? [{ index, error }] : [],
    )
    const answer = (added: number) => ({ added, known: good.length - added, refused })
    for (let start = 0, before = 0; ; start += perWrite) {
      const some = good.slice(start, start + perWrite)
      const added = await store.write(async (tx) => {
        const total = before + (await suppressSome(tx, account.accountId, some, clock.now()))
        // With the last of them: a repeat of what a crash cut short does the rest.
        if (start + perWrite >= good.length) await remember(tx, answer(total))
        return total
      })
      if (start + perWrite >= good.length) return answer(added)
      before = added
    }
  })

  api.get('/v1/suppressions/:email', AddressParams, async ({ account: { accountId }, params }) => {
    const email = addressOf(params.email)
    const records = await suppressionsOf(read, accountId, email)
    const history = (await consentHistory(read, accountId, email)).slice(-maxHistory)
    return {
      email,
      blocks: records.some(({ scope }) => scope === 'all') ? 'all' : (records[0]?.scope ?? null),
      suppressions: records.map(shown),
      history: history.map(({ at, kind, detail }) => ({ at: isoTime(at), kind, detail })),
    }
  })

  const removing = { ...AddressParams, ...ReasonQuery }
  api.delete('/v1/suppressions/:email', removing, async ({ account, params, query }) => {
    const email = addressOf(params.email)
    const reasons = query.reason === undefined ? suppressionReasons : [query.reason]
    const lifting = { by: 'api', at: clock.now(), reasons } as const
    const removed = await store.write((tx) => lift(tx, account.accountId, email, lifting))
    if (removed === 0) throw new ApiError('not_found', `${email} is not suppressed`)
    return { email, removed, message: 'The address may be mailed again' }
  })
}

/** Records some in one transaction; resolves with how many of them are new. */
async function suppressSome(tx: Tx, accountId: string, some: NewSuppression[], now: number) {
  let added = 0
  for (const given of some) if (await suppress(tx, accountId, given, now)) added++
  return added
}

/** A record to be, with its reason. */
type Given = NewSuppression & { reason: SuppressionReason }

/** What to record, or what is wrong with it. */
function readItem({
  email,
  reason = 'manual',
  scope,
  detail,
}: (typeof Item)['TYPE']): Given | string {
  const mailbox = parseMailbox(email)
  if (mailbox === undefined) return `"${email.slice(0, 80)}" is not an email address`
  return { email: mailbox.address, reason, scope, detail: detail || null }
}

/** The address in a path, in lower case; throws a 404 for what is no address. */
function addressOf(given: string): string {
  const mailbox = parseMailbox(given)
  if (mailbox === undefined) throw new ApiError('not_found', 'This is not an email address')
  return mailbox.address.toLowerCase()
}

/** What `textCursorOf` was given. */
function lastIn(text: string): Pick<Suppression, 'email' | 'reason'> {
  const at = text.indexOf(' ')
  return { reason: text.slice(0, at) as SuppressionReason, email: text.slice(at + 1) }
}

/** A record as the API shows it. */
const shown = ({ createdAt, expiresAt, ...record }: Suppression) => ({
  ...record,
  createdAt: isoTime(createdAt),
  expiresAt: expiresAt === null ? null : isoTime(expiresAt),
})
