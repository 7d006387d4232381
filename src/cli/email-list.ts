import { Option } from 'commander'
import * as operations from '../emails/contract.js'
import { type EmailSummary, emailsAnswer, filterFields } from '../emails/index.js'
import type { FieldValues } from '../fields/index.js'
import { answering, type CommandDeps } from './answering.js'
import type { CommandRow } from './command-row.js'
import { accountOption } from './database.js'
import { fieldOptions } from './field-options.js'
import { wholeNumber } from './option-values.js'
import { cut, remark, sayTable } from './output.js'

/** The filters as they were typed. */
type Filters = FieldValues<typeof filterFields>

// The most mails of one answer; a script goes on with --created-before.
const most = 10_000

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
      ...fieldOptions(filterFields),
    ],
    help: `Examples:
  $ posthorn email list --to ann@example.org
  $ posthorn email list --status bounced,failed --created-after 2026-11-01T00:00:00Z --json`,
    run: answering(list),
  },
]

/**
 * Unlike a page of the API, the command searches until it has found enough: nobody else waits for
 * this connection.
 */
async function list({ store: { read }, account }: CommandDeps, asked: Filters & { limit: number }) {
  const { id } = await account()
  const json = await emailsAnswer(read, id, asked, { most: Number.POSITIVE_INFINITY })
  return {
    json,
    say() {
      sayTable(['ID', 'ACCEPTED', 'STATUS', 'TO', 'SUBJECT'], json.emails.map(row), 'No such mails')
      if (json.hasMore) remark(`There are more; --limit shows up to ${most}`)
    },
  }
}

/** A mail's line. */
const row = ({ id, createdAt, status, to, subject, test }: EmailSummary) => [
  id,
  `${createdAt.slice(0, 19).replace('T', ' ')} UTC`,
  test ? `${status}, test` : status,
  cut(to, 60),
  cut(subject, 60),
]
