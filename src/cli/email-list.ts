import { type Command, Option } from 'commander'
import { is } from 'superstruct'
import * as operations from '../emails/contract.js'
import { type EmailSummary, emailsAnswer, filterFields } from '../emails/index.js'
import { structOf } from '../fields/index.js'
import type { CommandRow } from './command-row.js'
import { accountOption, chosenAccount, withStore } from './database.js'
import { mustBe, wholeNumber } from './option-values.js'
import { remark, sayJson, sayTable } from './output.js'
import { placeOf } from './place.js'

/** The filters as they were typed. */
type Filters = { [K in keyof typeof filterFields]?: string }

// The most mails of one answer; a script goes on by --created-before.
const most = 10_000

/**
 * Takes the filters of `GET /v1/emails`, by the same function: an operator and a client must find
 * the same mails.
 */
const filters: readonly [flag: string, field: keyof Filters, description: string][] = [
  ['--status <status>', 'status', 'with this status, or one of several joined by commas'],
  ['--to <address>', 'to', 'to this address, in to, cc or bcc'],
  ['--from <address>', 'from', 'from this address'],
  ['--domain <name>', 'domain', 'from this domain'],
  ['--type <type>', 'type', 'transactional or marketing'],
  ['--topic-id <id>', 'topicId', 'on this topic'],
  ['--broadcast-id <id>', 'broadcastId', 'of this campaign'],
  ['--template <slug>', 'template', 'made from this template'],
  ['--tag <name:value>', 'tag', 'with this tag'],
  ['--message-id <id>', 'messageId', 'with this Message-ID'],
  ['--automation-id <id>', 'automationId', 'of this automation'],
  ['--step <key>', 'step', 'of this step of the automation'],
  ['--created-after <time>', 'createdAfter', 'accepted at this time (ISO 8601) or later'],
  ['--created-before <time>', 'createdBefore', 'accepted before this time'],
]

/** What the API refuses, the command refuses in its words. */
const checked = (field: keyof Filters) => (text: string) => {
  const struct = structOf(filterFields[field])
  if (is(text, struct)) return text
  throw mustBe(struct.type)
}

/** `email list`. */
export const listEmailsRows: readonly CommandRow[] = [
  {
    usage: 'list',
    does: operations.listEmails,
    about: 'list the mails of an account, newest first, as GET /v1/emails does',
    options: [
      accountOption(),
      new Option('--limit <number>', `how many, up to ${most}`)
        .default(50)
        .argParser(wholeNumber(1, most)),
      ...filters.map(([flag, field, about]) => new Option(flag, about).argParser(checked(field))),
    ],
    help: `Examples:
  $ posthorn email list --to ann@example.org
  $ posthorn email list --status bounced,failed --created-after 2026-11-01T00:00:00Z --json`,
    run: runList,
  },
]

/**
 * Unlike a page of the API it looks until it has found enough: nobody waits for this connection.
 */
async function runList(
  options: Filters & { account?: string; limit: number },
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const { account: named, limit, ...given } = options
  const answer = await withStore(place, async ({ store: { read } }) => {
    const { id } = await chosenAccount(read, named)
    return await emailsAnswer(read, id, { ...given, limit }, Number.POSITIVE_INFINITY)
  })
  if (place.json) sayJson(answer)
  else
    sayTable(['ID', 'ACCEPTED', 'STATUS', 'TO', 'SUBJECT'], answer.emails.map(row), 'No such mails')
  if (answer.hasMore) remark(`There are more; --limit shows up to ${most}`)
}

/** A mail's line. */
const row = ({ id, createdAt, status, to, subject }: EmailSummary) => [
  id,
  `${createdAt.slice(0, 19).replace('T', ' ')} UTC`,
  status,
  to,
  subject,
]
