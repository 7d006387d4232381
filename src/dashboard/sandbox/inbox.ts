import type { PageRequest } from '../../http/index.js'
import { countMessages, listMessages, type SandboxSummary } from '../../sandbox/index.js'
import type { Read, Store } from '../../store/index.js'
import { listed, type Moment, moment, plural } from '../format.js'
import { ownUrl } from '../own-url.js'
import { type Badge, verdictBadges } from './verdict-words.js'

/** What the inbox's page shows. */
export interface InboxView {
  search: string
  /** How many messages there are in all, or match the search. */
  count: string
  empty: boolean
  rows: InboxRow[]
  /** The addresses where the list goes on, and where it starts. */
  older: string | undefined
  newest: string | undefined
  /** Set while nothing has ever arrived: a command that sends a first mail. */
  example: string | undefined
}

/** One message of the list. */
export interface InboxRow {
  url: string
  from: string
  to: string
  subject: string
  received: Moment
  badges: Badge[]
}

/** A page of the list: `before` is the id of the last message of the page before. */
export interface ListQuery {
  limit: number
  before?: number
  search?: string
}

const pageSize = 50
const maxLimit = 500
const maxSearch = 200

/** Reads `?q=`, `?before=` and `?limit=`; what cannot be read is left out. */
export function listQuery(query: URLSearchParams): ListQuery {
  const number = (name: string) => messageId(query.get(name) ?? '')
  const search = (query.get('q') ?? '').trim().slice(0, maxSearch)
  const before = number('before')
  return {
    limit: Math.min(maxLimit, Math.max(1, number('limit') ?? pageSize)),
    ...(before === undefined ? {} : { before }),
    ...(search === '' ? {} : { search }),
  }
}

/** A message's number in an address. */
export function messageId(text: string): number | undefined {
  const id = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(id) ? id : undefined
}

/** One page of messages, newest first, and the id before which the next one starts. */
export async function page(store: Pick<Store, 'read'>, query: ListQuery) {
  // One more than is shown tells, without counting, whether there is a next page.
  const found = await listMessages(store, { ...query, limit: query.limit + 1 })
  const messages = found.slice(0, query.limit)
  return { messages, nextBefore: found.length > query.limit ? messages.at(-1)?.id : undefined }
}

/** The page that `request` asks for, newest messages first. */
export async function inboxView(
  store: Pick<Store, 'read'>,
  nowMs: number,
  request: PageRequest,
): Promise<InboxView> {
  const query = listQuery(request.query)
  const { messages, nextBefore } = await page(store, query)
  const total = await countMessages(store, query.search)
  // An inbox is not empty because a search finds nothing.
  const fresh = total === 0 && query.search === undefined
  const matching = query.search === undefined ? '' : total === 1 ? ' matches' : ' match'
  return {
    search: query.search ?? '',
    count: `${plural(total, 'message')}${matching}`,
    empty: messages.length === 0,
    rows: messages.map((message) => inboxRow(message, nowMs)),
    older: nextBefore === undefined ? undefined : inboxUrl({ ...query, before: nextBefore }),
    newest: query.before === undefined ? undefined : inboxUrl({ search: query.search }),
    example: fresh ? await firstMail(store.read, request) : undefined,
  }
}

function inboxRow(message: SandboxSummary, nowMs: number): InboxRow {
  return {
    url: `/sandbox/${message.id}`,
    from: message.from || message.mailFrom || 'No sender',
    to: listed(message.recipients, 3),
    subject: message.subject || 'No subject',
    received: moment(message.receivedAt, nowMs),
    badges: verdictBadges(message),
  }
}

function inboxUrl(query: { before?: number; search?: string | undefined }): string {
  const parameters = new URLSearchParams()
  if (query.search !== undefined) parameters.set('q', query.search)
  if (query.before !== undefined) parameters.set('before', String(query.before))
  const text = parameters.toString()
  return text === '' ? '/sandbox' : `/sandbox?${text}`
}

/** A command that sends a first mail to this appliance; only the API key must be filled in. */
async function firstMail(read: Read, request: PageRequest): Promise<string> {
  const body = {
    from: `Posthorn <hello@${(await sendingDomain(read)) ?? 'your-domain.example'}>`,
    to: 'anyone@example.com',
    subject: 'My first mail',
    html: '<p>It works.</p>',
  }
  return [
    `curl ${ownUrl(request)}/v1/emails/send \\`,
    `  -H 'Authorization: Bearer YOUR_API_KEY' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body, null, 2).replaceAll('\n', '\n      ')}'`,
  ].join('\n')
}

async function sendingDomain(read: Read): Promise<string | undefined> {
  const row = await read
    .selectFrom('domains')
    .select('name')
    .where('status', '=', 'verified')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.name
}
