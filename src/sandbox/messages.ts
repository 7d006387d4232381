import { type Expression, type SqlBool, sql } from 'kysely'
import type { SMTPServer } from 'smtp-server'
import { type MessageContent, parseMailbox, readMessageContent } from '../mime/index.js'
import { parseVerdicts, type Verdicts } from '../reports/index.js'
import { likeAnyCase, type SandboxMessageRow, type Store } from '../store/index.js'
import { type Inbox, isIn } from './inbox.js'
import { batch, deleteMessages, deleteUpTo } from './keep.js'
import { ofDomains, type SeenInbox } from './of-domains.js'

/** A mail as lists show it. */
export interface SandboxSummary {
  id: number
  receivedAt: number
  /** The envelope's sender; empty for the null sender. */
  mailFrom: string
  recipients: string[]
  subject: string
  /** The From header, decoded. */
  from: string
  remoteAddress: string
  helo: string
  tls: boolean
  sizeBytes: number
  /** Warnings about recipients that RFC 5321 does not allow. */
  warnings: string[]
  /** Undefined while the checks are still to come. */
  verdicts: Verdicts | undefined
  /** In an account's inbox, the mail of which it is a copy. */
  emailId: string | null
}

/** A mail with its content. */
export interface SandboxMessage extends SandboxSummary {
  content: MessageContent
}

interface ListOptions {
  limit: number
  before?: number
  search?: string
  filter?: MessageFilter
}

/** The newest first; `before` is the id with which the page before ended. */
export async function listMessages(
  inbox: SeenInbox,
  options: ListOptions,
): Promise<SandboxSummary[]> {
  const rows = inbox.domains ? await seenRows(inbox, options) : await listedRows(inbox, options)
  return rows.map(summary)
}

const listedRows = (inbox: Inbox, { before, search, filter = {}, limit }: ListOptions) =>
  inbox.read
    .selectFrom('sandbox_messages')
    .selectAll()
    .where(isIn(inbox))
    .where(fits(filter))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
    .$if(search !== undefined, (query) => query.where(matches(search ?? '')))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

const chunk = 200

/**
 * Reads chunk by chunk until there are enough messages that the key may see; an inbox has a bounded number of
 * messages.
 */
async function seenRows(inbox: SeenInbox, options: ListOptions): Promise<SandboxMessageRow[]> {
  const found: SandboxMessageRow[] = []
  let { before } = options
  for (;;) {
    const rows = await listedRows(inbox, {
      ...options,
      limit: chunk,
      ...(before !== undefined && { before }),
    })
    found.push(...(await ofDomains(inbox, rows)))
    if (found.length >= options.limit || rows.length < chunk) return found.slice(0, options.limit)
    before = rows.at(-1)?.id
  }
}

/** How many messages there are, or how many a search finds. */
export async function countMessages(inbox: Inbox, search?: string): Promise<number> {
  const { count } = await inbox.read
    .selectFrom('sandbox_messages')
    .select((count) => count.fn.countAll<number>().as('count'))
    .where(isIn(inbox))
    .$if(search !== undefined, (query) => query.where(matches(search ?? '')))
    .executeTakeFirstOrThrow()
  return count
}

/** `whole`: reads the message however long it is; else only as much as can be read in a moment. */
export async function findMessage(
  inbox: SeenInbox,
  id: number,
  { whole = false } = {},
): Promise<SandboxMessage | undefined> {
  const rows = await inbox.read
    .selectFrom('sandbox_messages')
    .selectAll()
    .where('id', '=', id)
    .where(isIn(inbox))
    .execute()
  const [row] = await ofDomains(inbox, rows)
  const raw = row && (await rawMessage(inbox, id))
  if (raw === undefined || row === undefined) return undefined
  return { ...summary(row), content: await readMessageContent(raw, { whole }) }
}

/** What a message must have; the case of ASCII letters does not matter. */
export interface MessageFilter {
  /** One of the envelope's recipients, whole. */
  to?: string
  /** A part of the From header. */
  from?: string
  /** A part of the subject. */
  subject?: string
  /** Only messages that came after the one with this id. */
  after?: number
  /** Only copies of this mail. */
  emailId?: string
}

/** The id of the newest message; 0 if there is none. Later ones have larger ids. */
export async function newestId(inbox: Inbox): Promise<number> {
  const { newest } = await inbox.read
    .selectFrom('sandbox_messages')
    .where(isIn(inbox))
    .select((newest) => newest.fn.max('id').as('newest'))
    .executeTakeFirstOrThrow()
  return newest ?? 0
}

/** The newest message that fits, read as a whole. */
export async function findNewest(
  inbox: Inbox,
  filter: MessageFilter,
): Promise<SandboxMessage | undefined> {
  const row = await inbox.read
    .selectFrom('sandbox_messages')
    .select('id')
    .where(isIn(inbox))
    .where(fits(filter))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && (await findMessage(inbox, row.id, { whole: true }))
}

/** The mail as it came, byte by byte. */
export async function rawMessage(inbox: Inbox, id: number): Promise<Buffer | undefined> {
  const row = await inbox.read
    .selectFrom('sandbox_sources as source')
    .innerJoin('sandbox_messages', 'sandbox_messages.id', 'source.id')
    .select('raw')
    .where('source.id', '=', id)
    .where(isIn(inbox))
    .executeTakeFirst()
  return row?.raw
}

/** Deletes the messages that are there now, and none that arrives meanwhile; resolves with how many. */
export async function clearMessages(inbox: SeenInbox & Pick<Store, 'write'>): Promise<number> {
  if (inbox.domains) return await clearSeen(inbox)
  const newest = await newestId(inbox)
  return newest === 0 ? 0 : await deleteUpTo(inbox, newest)
}

/** Deletes those that the key may see, in short transactions. */
async function clearSeen(inbox: SeenInbox & Pick<Store, 'write'>): Promise<number> {
  let deleted = 0
  let before = (await newestId(inbox)) + 1
  for (;;) {
    const rows = await listedRows(inbox, { limit: chunk, before })
    const ids = (await ofDomains(inbox, rows)).map(({ id }) => id)
    for (let i = 0; i < ids.length; i += batch) {
      deleted += await deleteMessages(inbox, ids.slice(i, i + batch))
    }
    if (rows.length < chunk) return deleted
    before = rows.at(-1)?.id ?? 0
  }
}

/** The condition that the messages of a filter fulfil. */
function fits({ to, from, subject, after, emailId }: MessageFilter): Expression<SqlBool> {
  const tests = [
    ...(after === undefined ? [] : [sql<SqlBool>`sandbox_messages.id > ${after}`]),
    ...(to === undefined ? [] : [likeAnyCase('rcpt_to', JSON.stringify(to))]),
    ...(from === undefined ? [] : [likeAnyCase('header_from', from)]),
    ...(subject === undefined ? [] : [likeAnyCase('subject', subject)]),
    ...(emailId === undefined ? [] : [sql<SqlBool>`email_id = ${emailId}`]),
  ]
  return tests.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`${sql.join(tests, sql` and `)}`
}

/** Whether anything that a list shows has this text. */
function matches(search: string): Expression<SqlBool> {
  const columns = ['subject', 'header_from', 'mail_from', 'rcpt_to'] as const
  const tests = columns.map((column) => likeAnyCase(column, search))
  return sql<SqlBool>`(${sql.join(tests, sql` or `)})`
}

/** A row as lists show it. */
function summary(row: SandboxMessageRow): SandboxSummary {
  const recipients = JSON.parse(row.rcpt_to) as string[]
  return {
    id: row.id,
    receivedAt: row.received_at,
    mailFrom: row.mail_from,
    recipients,
    subject: row.subject,
    from: row.header_from,
    remoteAddress: row.remote_address,
    helo: row.helo,
    tls: row.tls === 1,
    sizeBytes: row.size_bytes,
    warnings: warningsOf(recipients),
    verdicts: parseVerdicts(row.verdicts),
    emailId: row.email_id,
  }
}

type Connection = SMTPServer['connections'] extends Set<infer C> ? C : never

// MAIL or RCPT, up to 2 KiB: before the path, the path, its parameters.
const command =
  /^([^<]{0,20})<((?:"(?:[^"\\]|\\.){0,100}"|[^<>\s"]{1,100})@[^<>\s"@]{1,300})>(.*)$/s

/**
 * smtp-server splits at the first space and at each @, and so refuses quoted local parts that have them (RFC 5321
 * §4.1.2), and other forms that a few real servers take. This reads the path instead, and the parameters after it.
 */
export function takeAllAddresses(server: SMTPServer): void {
  const connect = server.connect.bind(server)
  server.connect = (socket, options) => {
    connect(socket, options)
    const added = [...server.connections].find((connection) => connection._socket === socket)
    if (added !== undefined) readPaths(added)
  }
}

function readPaths(connection: Connection): void {
  const parse = connection._parseAddressCommand.bind(connection)
  connection._parseAddressCommand = (name, raw) => {
    const parsed = parse(name, raw)
    if (parsed !== false) return parsed
    const [, before, address = '', after] = command.exec(raw.toString()) ?? []
    if (parseMailbox(address) === undefined) return false
    const inPlace = parse(name, `${before}<path@sandbox.posthorn.test>${after}`)
    return inPlace && { ...inPlace, address }
  }
}

/** What is wrong with addresses that were accepted all the same, with each address. */
const warningsOf = (recipients: readonly string[]): string[] =>
  recipients.flatMap((address) => {
    const warning = parseMailbox(address)?.warning
    return warning === undefined ? [] : [`${address}: ${warning}`]
  })
