import { listAutomations } from '../../automations/index.js'
import { listBroadcasts } from '../../broadcasts/index.js'
import type { Clock } from '../../clock/index.js'
import { type EmailSummary, listEmails } from '../../emails/index.js'
import { ApiError } from '../../errors/index.js'
import type { Read, Store } from '../../store/index.js'
import { listTemplates } from '../../templates/index.js'
import { type Moment, moment, shortly, timeOfId } from '../format.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import { command } from '../shell/command-line.js'
import { namedOptions } from '../shell/named-options.js'
import type { SameBy, Tone } from '../shell/parts.js'
import { ranges } from '../shell/time-ranges.js'
import type { Visit } from '../shell/visit.js'
import { queryWith, type Wanted, wantedOf } from './filter.js'
import { statusChips, toneOf } from './words.js'

/** What the log's page shows, as plain values. */
export interface LogView {
  base: string
  maySend: boolean
  search: string
  chips: { label: string; href: string; here: boolean }[]
  /** The selects behind the search field, each with what is chosen. */
  selects: { name: string; label: string; value: string; options: Option[] }[]
  /** The rest of the filter, which a search keeps. */
  kept: { name: string; value: string }[]
  fault: string | undefined
  rows: LogRow[]
  /** Set while the log has no mail at all. */
  isNew: boolean
  isFiltered: boolean
  /** Set when the page ended before it was full: how far back the search went. */
  lookedTo: Moment | undefined
  newest: string | undefined
  older: string | undefined
  csv: string
  same: SameBy
}

interface Option {
  value: string
  label: string
}

/** A mail's line. */
export interface LogRow {
  href: string
  at: Moment
  to: string
  subject: string
  status: string
  tone: Tone
  byFailover: boolean
  test: boolean
}

const pageSize = 50
// How many mails a page looks at: it takes some milliseconds, whatever it finds, and 'Older' goes on from there.
const mostLooked = 1_000
// How many options a select has: the newest ones. A chosen one that is not among them is added.
const mostOptions = 100

/** An account's mails, newest first; a search for an id leads to the mail itself. */
export async function showLog(
  { store }: { store: Store; clock: Clock },
  visit: Visit,
): Promise<PageAnswer> {
  const { query, account, base, now } = visit
  const { read } = store
  const wanted = wantedOf(query, now)
  // An id in the search field can mean one mail only, so its page comes at once.
  if (wanted.mailId !== undefined && (await isMailOf(read, account.id, wanted.mailId))) {
    return redirect(`${base}/emails/${wanted.mailId}`)
  }
  const before = cursorIn(query)
  const lookFor = wanted.fault === undefined && wanted.mailId === undefined
  const { emails, next } = lookFor
    ? await listEmails(read, account.id, wanted.filter, {
        limit: pageSize,
        before,
        most: mostLooked,
      })
    : { emails: [], next: undefined }
  const isFiltered = query.size > 0
  const here = (changes: Record<string, string>) => `${base}/emails${queryWith(query, changes)}`
  const view: LogView = {
    base,
    maySend: visit.may('emails.send'),
    search: wanted.search,
    isFiltered,
    chips: statusChips.map(({ label, status }) => ({
      label,
      href: here({ status: status.join(',') }),
      here: (query.get('status') ?? '') === status.join(','),
    })),
    selects: await selectsOf(read, account.id, wanted),
    kept: keptOf(query),
    fault:
      wanted.fault ??
      (wanted.mailId === undefined ? undefined : 'No mail of this account has that id.'),
    rows: emails.map((email) => rowOf(email, base, now)),
    isNew: emails.length === 0 && !isFiltered,
    lookedTo:
      next !== undefined && emails.length < pageSize ? moment(timeOfId(next) ?? 0, now) : undefined,
    newest: before === undefined ? undefined : here({ before: '' }),
    older: next === undefined ? undefined : here({ before: next }),
    csv: `${base}/emails.csv${queryWith(query, {})}`,
    same: sameBy(wanted, account.id),
  }
  return page('emails/log', view, { title: 'Emails', wide: true })
}

const rowOf = (email: EmailSummary, base: string, now: number): LogRow => ({
  href: `${base}/emails/${email.id}`,
  at: moment(Date.parse(email.createdAt), now),
  // A mail whose recipients are all suppressed has nobody left in these fields.
  to: [email.to, ...email.cc, ...email.bcc].filter(Boolean).join(', ') || 'Nobody',
  subject: shortly(email.subject) || 'No subject',
  status: email.status,
  tone: toneOf(email.status),
  byFailover: email.provider === 'failover',
  test: email.test,
})

/** Whether the account has a mail with this id; it is not told whether another account has one. */
async function isMailOf(read: Read, accountId: string, id: string): Promise<boolean> {
  const row = await read
    .selectFrom('emails')
    .select('id')
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row !== undefined
}

/** Where the page before ended: a mail's id, which anybody may change in the address. */
function cursorIn(query: URLSearchParams): string | undefined {
  const before = query.get('before') ?? ''
  if (before === '') return undefined
  if (timeOfId(before) !== undefined) return before
  throw new ApiError(
    'validation_error',
    'The link to this page of the log does not work any more: begin at the first page',
  )
}

const shown = ['type', 'test', 'template', 'broadcastId', 'automationId'] as const

/** What is chosen outside of the selects; a search must keep it. */
const keptOf = (query: URLSearchParams) =>
  [...query].flatMap(([name, value]) =>
    name === 'q' || name === 'range' || name === 'before' || shown.some((one) => one === name)
      ? []
      : [{ name, value }],
  )

async function selectsOf(
  read: Read,
  accountId: string,
  { given, range }: Wanted,
): Promise<LogView['selects']> {
  const limit = mostOptions
  const [templates, campaigns, automations] = await Promise.all([
    listTemplates(read, accountId, { limit }),
    listBroadcasts(read, accountId, { limit }),
    listAutomations(read, accountId, { limit }),
  ])
  const select = (name: (typeof shown)[number], label: string, options: Option[]) => {
    const value = given[name] ?? ''
    // The chosen value stays visible, also when the list of the newest ones no longer has it.
    const known = value === '' || options.some((option) => option.value === value)
    const all = known ? options : [{ value, label: value }, ...options]
    return { name, label, value, options: [{ value: '', label: 'Any' }, ...all] }
  }
  const selects = [
    select('type', 'Type', [
      { value: 'transactional', label: 'Transactional' },
      { value: 'marketing', label: 'Marketing' },
    ]),
    select('test', 'Keys', [
      { value: 'false', label: 'Without test mail' },
      { value: 'true', label: 'Test mail alone' },
    ]),
    select(
      'template',
      'Template',
      templates.map(({ slug }) => ({ value: slug, label: slug })),
    ),
    select(
      'broadcastId',
      'Campaign',
      namedOptions(campaigns.map(({ id, name, subject }) => ({ id, name: name || subject }))),
    ),
    select('automationId', 'Automation', namedOptions(automations)),
  ]
  return [
    { name: 'range', label: 'Time', value: range, options: ranges.map((one) => ({ ...one })) },
    // A select without a choice would only be in the way.
    ...selects.filter(({ options, name }) => options.length > 1 || name === 'type'),
  ]
}

/** The search of the page, written as a request to the API and as a command. */
function sameBy({ given, filter: { type } }: Wanted, account: string): LogView['same'] {
  const test = (['true', 'false'] as const).find((one) => one === given.test)
  return {
    api: [call(api.emails.listEmails, { query: given })],
    cli: [command('email list', { ...given, type, test, account })],
  }
}
