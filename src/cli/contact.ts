import { type Command, Option } from 'commander'
import { counted } from '../amounts/index.js'
import {
  type AccountBilling,
  checkAdding,
  contactCeiling,
  type Plans,
  readBilling,
} from '../billing/index.js'
import type { ConsentEvent } from '../consent/index.js'
import * as operations from '../contacts/contract.js'
import {
  addContact,
  contactAnswer,
  contactHistory,
  deleteContact,
  deletedContact,
  exportContacts,
  listLists,
  phoneNotations,
  toE164,
  whatDeletionTakes,
} from '../contacts/index.js'
import { OperatorError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import { answering, answeringWith, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { contactBulkRow } from './contact-bulk.js'
import { contactDataRows } from './contact-data.js'
import { contactOneRows, defaultCountry, type Settled } from './contact-one.js'
import { accountOption, chosenAccount, withStore } from './database.js'
import { forceOption, plansUnlessForced, withForceHint } from './limits.js'
import { jsonTime, say, sayTable, shownTime } from './output.js'
import { placeOf } from './place.js'

/** What any of the sub-commands may be given. */
interface Options {
  account?: string
  firstName?: string
  lastName?: string
  phone?: string
  list?: string
  force?: boolean
}

// An operator who is asked to forget somebody would think that 'for good' means everything.
const mailStays =
  "Mails to the address stay in the log with their content, as long as any mail ('posthorn contact erase' takes the address out)"

/** `posthorn contact`: the contacts of one account. */
export function contactCommands(program: Command): void {
  const contact = program
    .command('contact')
    .alias('contacts')
    .description('the people whom an account writes to')
  addCommands(contact, [
    ...rows,
    ...contactOneRows(listOf),
    contactBulkRow(listOf),
    ...contactDataRows,
  ])
}

const rows: readonly CommandRow[] = [
  {
    usage: 'add <email>',
    about: 'add a contact; one who is there gets the fields that are given',
    options: [
      accountOption(),
      new Option('--first-name <name>', 'first name'),
      new Option('--last-name <name>', 'last name'),
      new Option('--phone <number>', 'phone number, by which USSD finds the contact'),
      forceOption(),
    ],
    help: 'Example:\n  $ posthorn contact add ada@example.com --phone 08031234567',
    run: answeringWith(defaultCountry, add),
  },
  {
    usage: 'delete <email>',
    does: operations.deleteContact,
    about: 'delete a contact, by address or id, for good, off all lists; runs of automations end',
    options: [...askOptions(), accountOption()],
    help: `Example:
  $ posthorn contact delete ada@example.com

Suppressions and the consent record stay. ${mailStays}.`,
    run: answering(remove),
  },
  {
    usage: 'export',
    about: 'write the contacts as CSV to stdout; an import takes it back',
    options: [
      accountOption(),
      new Option('--list <id>', 'only those of this list, by its id or name'),
    ],
    help: `Example:
  $ posthorn contacts export --list Readers > readers.csv

Before what a spreadsheet would run as a formula, such as a number with +, stands an apostrophe, which an import
takes off again.`,
    run: runExport,
  },
  {
    usage: 'history <email>',
    about: 'show how an address came in, what it has left, and who took that back',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn contacts history ada@example.com',
    run: answering(history),
  },
]

/**
 * A contact is one of an account and address, on any number of lists: the command puts it on none.
 */
async function add(deps: Settled, email: string, options: Options) {
  const { firstName, lastName } = options
  const phone = phoneOf(options.phone, deps.defaultCountry)
  const { id } = await deps.account()
  const { read } = deps.store
  const plans = plansUnlessForced(deps.place, options)
  const limits = plans && limitsOf(plans, await readBilling(read, plans, id))
  const given = { email, firstName, lastName, phone }
  const { contact, added } = await withForceHint(() =>
    addContact(deps, id, given, { by: 'command', ...limits }),
  )
  return {
    json: { ...(await contactAnswer(read, id, contact.id)), added },
    say: () => say(`${contact.email} is ${added ? 'added' : 'updated'}: ${contact.id}`),
  }
}

/**
 * What a deletion takes along is read first and shown with its numbers. Suppressions and the record
 * of consent stay: they prove why an address was or was not mailed (RFC 8058 and the laws behind it
 * want the unsubscription to last).
 */
async function remove(deps: CommandDeps, email: string, options: AskOptions) {
  const { id } = await deps.account()
  const taken = await whatDeletionTakes(deps.store.read, id, email)
  if (!(await confirmed(deps.place, options, deletionOf(taken)))) return
  const deleted = await deleteContact(deps, id, email)
  return { json: deletedContact(deleted.id), say: () => say(`${deleted.email} is deleted.`) }
}

/** CSV to stdout, a page of rows at a time. */
async function runExport(options: Options, command: Command): Promise<void> {
  await withStore(placeOf(command), async ({ store: { read } }) => {
    const { id } = await chosenAccount(read, options.account)
    const listId = options.list === undefined ? undefined : await listOf(read, id, options.list)
    for await (const lines of exportContacts(read, id, listId)) {
      // The rows may not fit into memory, so their reader sets the pace.
      if (!process.stdout.write(lines)) {
        await new Promise((resolve) => process.stdout.once('drain', resolve))
      }
    }
  })
}

/** The consent log of an address, even if it is no contact any more. */
async function history({ store: { read }, account }: CommandDeps, email: string) {
  const events = await contactHistory(read, (await account()).id, email)
  return {
    json: events.map((event) => ({ ...event, at: jsonTime(event.at) })),
    say: () =>
      sayTable(
        ['WHEN', 'WHAT', 'DETAILS'],
        events.map((event) => [
          shownTime(event.at),
          event.kind.replaceAll('_', ' '),
          details(event),
        ]),
        `Nothing is known of ${email}`,
      ),
  }
}

/** The address has to be typed, since nothing brings its fields and history back. */
const deletionOf = (taken: Awaited<ReturnType<typeof whatDeletionTakes>>): Intent => ({
  to: `delete the contact ${taken.email} for good`,
  facts: [
    `It is taken off ${counted(taken.lists, 'list')}, and its fields and history there are deleted`,
    `${counted(taken.runs, 'run')} of automations would end`,
    'Suppressions and the consent record stay',
    mailStays,
  ],
  counts: taken,
  how: { typed: taken.email },
})

/** The same limits as for an API client: a known contact gets new fields whatever the plan. */
const limitsOf = (plans: Plans, billing: AccountBilling) => ({
  ceiling: contactCeiling(plans, billing),
  checkNew: () => checkAdding(billing),
})

/** The id of the account's list of that id or name. */
export async function listOf(read: Read, accountId: string, named: string): Promise<string> {
  const lists = await listLists(read, accountId)
  const found = lists.filter(({ id, name }) => id === named.toLowerCase() || name === named)
  const [only, ...others] = found
  if (only !== undefined && others.length === 0) return only.id
  const shown = (only === undefined ? lists : found).map(({ id, name }) => `\n  ${id}  ${name}`)
  const problem = only === undefined ? `No list "${named}"` : `Several lists are named "${named}"`
  throw new OperatorError(`${problem}; there are:${shown.join('') || ' none'}`)
}

/** What a row of the consent log knows beside its kind. */
const details = ({ detail }: ConsentEvent) =>
  Object.entries(detail)
    .map(([key, value]) => `${key} ${value}`)
    .join(', ')

/**
 * Stored in E.164, in which USSD callbacks name a subscriber; a number without a country code
 * belongs to contacts.default_country.
 */
function phoneOf(given: string | undefined, country: string): string | undefined {
  if (given === undefined) return undefined
  const phone = toE164(given, country)
  if (phone !== undefined) return phone
  throw new OperatorError(`"${given}" is not a phone number, ${phoneNotations(country)}`)
}
