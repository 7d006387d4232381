import type { Command } from 'commander'
import { applianceAccountId, findAccount } from '../accounts/index.js'
import { isoTime } from '../clock/index.js'
import * as operations from '../emails/contract.js'
import {
  accountOfEmail,
  type EmailRecord,
  givenFacts,
  type MailHappening,
  readEmail,
  timelineOf,
} from '../emails/index.js'
import { type MailEvent, readTimeline } from '../events/index.js'
import { answering, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { listEmailsRows } from './email-list.js'
import { say, sayFields, sayTable } from './output.js'

/** What became of a mail. */
export function emailCommands(program: Command): void {
  const email = program
    .command('email')
    .description('mails, from their acceptance to their last event')
  addCommands(email, rows)
}

const rows: readonly CommandRow[] = [
  ...listEmailsRows,
  {
    usage: 'show <id>',
    does: operations.getEmail,
    // Only the operator is told the mail's account and events.
    adds: ['accountId', 'events'],
    about: 'show a mail and all that happened to it',
    help: 'Example:\n  $ posthorn email show 019a9c1e-5b7c-7d3a-9d51-2f6a4f0c8e11',
    run: answering(show),
  },
]

/**
 * Finds the mail by its id alone, in any account: an operator has an id from a log or a complaint,
 * and no account.
 */
async function show({ store: { read } }: CommandDeps, given: string) {
  const id = given.toLowerCase()
  // Throws an OperatorError for an id of no mail.
  const accountId = await accountOfEmail(read, id)
  // Mail in the appliance's own name belongs to an account that nobody else sees.
  const account =
    accountId === applianceAccountId
      ? { id: accountId, name: 'the appliance itself' }
      : await findAccount(read, accountId)
  const [email, events] = await Promise.all([
    readEmail(read, account.id, id),
    readTimeline(read, account.id, id),
  ])
  return {
    json: { email, accountId: account.id, events: events.map(eventInJson) },
    say() {
      sayFields({
        Account: account.name,
        ...Object.fromEntries(givenFacts(email)),
        Subject: email.subject,
        ...some(
          'Headers',
          Object.entries(email.headers).map((pair) => pair.join(': ')),
        ),
        ...some(
          'Attachments',
          email.attachments.map(
            ({ filename, contentType, size }) => `${filename} (${contentType}, ${size} bytes)`,
          ),
        ),
        Status: email.status,
        ...(email.test ? { Key: "a test key's: it went to the test inbox alone" } : {}),
        ...(email.held === null ? {} : { Held: heldSince(email.held) }),
        ...some('Warnings', email.warnings),
        'Message-ID': email.messageId,
        Accepted: email.createdAt,
        ...(email.scheduledAt === null ? {} : { 'Scheduled for': email.scheduledAt }),
        ...asked('Opens', email.opensCount, email.openedAt, eventsOf(events, 'opened')),
        ...asked('Clicks', email.clicksCount, email.clickedAt, eventsOf(events, 'clicked')),
      })
      say()
      sayTable(
        ['WHEN', 'WHAT', 'RECIPIENT', 'REPLY'],
        timelineOf(email, events).map(happeningRow),
        'Nothing has happened to it yet',
      )
    },
  }
}

/** A field that is left out when it is empty. */
const some = (name: string, values: readonly string[]) =>
  values.length === 0 ? {} : { [name]: values.join(', ') }

/** Why it is held, and since when that is known. */
const heldSince = ({ since, reason }: NonNullable<EmailRecord['held']>) =>
  since === null ? reason : `${reason} (since ${since})`

/** The events of one type. */
const eventsOf = (events: readonly MailEvent[], type: MailEvent['type']) =>
  events.filter((event) => event.type === type)

/** Opens or clicks, if there were any: those of people, and those of machines beside them. */
function asked(name: string, count: number, firstAt: string | null, events: readonly MailEvent[]) {
  const machines = events.filter(({ detail }) => detail?.machine).length
  if (count + machines === 0) return {}
  const first = firstAt === null ? '' : `, first ${firstAt}`
  const more = machines === 0 ? '' : `; ${machines} more by machines`
  return { [name]: `${count}${first}${more}` }
}

/** A line of the timeline; a reply of several lines is put into one. */
const happeningRow = ({ at, what, recipient, reply, means }: MailHappening) => [
  isoTime(at),
  what,
  recipient ?? '-',
  [reply?.replaceAll('\n', ' '), means].filter(Boolean).join('  '),
]

/** An event for scripts, with the fields that `GET /v1/emails/:id` has. */
const eventInJson = ({ type, at, recipient, deliveryId, reply, detail }: MailEvent) => ({
  type,
  at: isoTime(at),
  recipient,
  deliveryId,
  reply,
  detail,
})
