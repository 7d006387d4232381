import { createReadStream } from 'node:fs'
import { type Command, Option } from 'commander'
import { counted } from '../amounts/index.js'
import { OperatorError } from '../errors/index.js'
import { parseMailbox } from '../mime/index.js'
import type { Read } from '../store/index.js'
import * as operations from '../suppression/contract.js'
import {
  addedSuppression,
  addressAnswer,
  exportSuppressions,
  importSuppressions,
  type LineFault,
  lift,
  newSuppression,
  removedSuppression,
  type Suppression,
  type SuppressionImportCounts,
  type SuppressionReason,
  type SuppressionScope,
  shownSuppression,
  suppressionReasons,
  suppressionsAnswer,
  suppressionsOf,
} from '../suppression/index.js'
import { answering, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent, isAtTerminal } from './confirm.js'
import { accountOption, chosenAccount, withStore } from './database.js'
import { givenTo } from './given.js'
import { limitOption } from './option-values.js'
import { remark, say, sayTable, shownTime, visibleLines, warn } from './output.js'
import { placeOf } from './place.js'

/** What any of the sub-commands may be given. */
interface Options {
  account?: string
  reason?: SuppressionReason
  scope?: SuppressionScope
  detail?: string
  limit: number
}

// Made anew for each command, as Commander keeps the value in the option.
const reasonOption = (about: string) =>
  new Option('--reason <reason>', about).choices(suppressionReasons)
const scopeOption = () =>
  new Option(
    '--scope <scope>',
    'what is blocked (default: marketing for unsubscribe, else all)',
  ).choices(['all', 'marketing'])

/** `posthorn suppression`: whom an account must not mail. */
export function suppressionCommands(program: Command): void {
  const suppression = program
    .command('suppression')
    .description('addresses that an account must not mail, and why')
  addCommands(suppression, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'list [address]',
    does: operations.listSuppressions,
    about: 'show the records, or those of one address; with --json its history too',
    options: [accountOption(), reasonOption('only these'), limitOption(100)],
    help: 'Example:\n  $ posthorn suppression list --reason bounce',
    run: answering(list),
  },
  {
    usage: 'add <address...>',
    does: operations.addSuppression,
    about: 'suppress addresses',
    options: [
      accountOption(),
      reasonOption('why').default('manual'),
      scopeOption(),
      new Option('--detail <text>', 'a note'),
    ],
    help: "Example:\n  $ posthorn suppression add ada@example.com --detail 'asked by phone'",
    run: answering(add),
  },
  {
    usage: 'remove <address...>',
    does: operations.removeSuppression,
    about: 'let addresses be mailed again',
    options: [
      ...askOptions(),
      accountOption(),
      reasonOption('take back only this one (default: all)'),
    ],
    help: `Example:
  $ posthorn suppression remove ada@example.com --reason bounce

Whoever has unsubscribed or complained must not be mailed again before asking for it.`,
    run: answering(remove),
  },
  {
    usage: 'import <file>',
    does: operations.importSuppressions,
    adds: ['faults'],
    about: 'suppress the addresses of a CSV, or of a list, one a line; - reads stdin',
    options: [
      ...askOptions(),
      accountOption(),
      reasonOption('for lines that name none').default('manual'),
      scopeOption(),
    ],
    help: `Example:
  $ posthorn suppression import unsubscribed.csv --reason unsubscribe

A first line that names the columns is known by "email"; the others are those of an export: reason,
scope, emailId, detail, createdAt, expiresAt. Lines that cannot be read are named on stderr and left out; the
status is then 1, and all others are in.`,
    run: answering(importFile),
  },
  {
    usage: 'export',
    about: 'write all records as CSV to stdout',
    options: [accountOption()],
    help: `Example:
  $ posthorn suppression export > suppressed.csv

Before what a spreadsheet would run as a formula stands an apostrophe, which an import takes off again.`,
    run: runExport,
  },
]

/** All records, or those of one address, which may have one for each reason. */
async function list(deps: CommandDeps, address: string | undefined, options: Options) {
  const { reason, limit } = options
  const { id } = await deps.account()
  const json = await answerOf(deps.store.read, id, address, { reason, limit })
  return {
    json,
    say() {
      sayTable(
        ['ADDRESS', 'REASON', 'BLOCKS', 'SINCE', 'UNTIL', 'DETAIL'],
        json.suppressions.map((r) => [
          r.email,
          r.reason,
          r.scope,
          shownTime(Date.parse(r.createdAt)),
          r.expiresAt === null ? '-' : shownTime(Date.parse(r.expiresAt)),
          r.detail?.slice(0, 80) ?? '',
        ]),
        address === undefined ? 'No address is suppressed' : `${address} is not suppressed`,
      )
      if ('hasMore' in json && json.hasMore) {
        remark(`There are more: --limit shows them, 'posthorn suppression export' all`)
      }
    },
  }
}

async function answerOf(
  read: Read,
  accountId: string,
  address: string | undefined,
  { reason, limit }: Pick<Options, 'reason' | 'limit'>,
) {
  if (address === undefined) return await suppressionsAnswer(read, accountId, { reason, limit })
  const one = await addressAnswer(read, accountId, addressOf(address))
  const only = one.suppressions.filter((record) => (reason ?? record.reason) === record.reason)
  return { ...one, suppressions: only }
}

/** All addresses in one transaction: a typed list is suppressed as a whole or not at all. */
async function add(deps: CommandDeps, given: string[], options: Options) {
  const { reason, scope, detail } = options
  const records = given.map((email) => {
    const record = newSuppression(
      givenTo(operations.addSuppression, { email, reason, scope, detail }),
    )
    if (typeof record === 'string') throw new OperatorError(record)
    return record
  })
  const { id } = await deps.account()
  const done = await deps.store.write((tx) =>
    inTurn(records, (record) => addedSuppression(tx, id, record, deps.clock.now())),
  )
  return {
    json: done.map(({ answer }) => answer),
    say() {
      for (const { isNew, answer } of done) {
        say(`${answer?.email} ${isNew ? 'is' : 'was'} suppressed (${answer?.reason})`)
      }
    },
  }
}

/**
 * Whoever unsubscribed or complained must not be mailed before asking for it; so the question names
 * the reason of each address.
 */
async function remove(deps: CommandDeps, given: string[], options: Options & AskOptions) {
  const addresses = given.map(addressOf)
  const reasons = options.reason === undefined ? suppressionReasons : [options.reason]
  const why = options.reason === undefined ? '' : ` for ${options.reason}`
  const refusal = (email: string) =>
    new OperatorError(`${email} is not suppressed${why}; nothing was changed`)
  const { id } = await deps.account()
  const found: Suppression[] = []
  for (const email of addresses) {
    const records = await suppressionsOf(deps.store.read, id, email)
    const theirs = records.filter(({ reason }) => reasons.includes(reason))
    if (theirs.length === 0) throw refusal(email)
    found.push(...theirs)
  }
  if (!(await confirmed(deps.place, options, removalOf(addresses, found)))) return
  const json = await deps.store.write((tx) =>
    inTurn(addresses, async (email) => {
      // Read again in the transaction: somebody may have removed the record since the question.
      const lifting = { by: 'operator', at: deps.clock.now(), reasons } as const
      const lifted = await lift(tx, id, email, lifting)
      if (lifted === 0) throw refusal(email)
      return removedSuppression(email, lifted)
    }),
  )
  return {
    json,
    say() {
      for (const email of addresses) say(`${email} is taken off the list`)
    },
  }
}

// JSON names at most this many unreadable lines; stderr has them all.
const faultsShown = 1_000

/**
 * With --dry-run or a question the file is read twice, first to count: another service's file may
 * surprise, and records can be removed only singly.
 */
async function importFile(deps: CommandDeps, file: string, options: Options & AskOptions) {
  const { reason = 'manual', scope } = options
  const { id, name } = await deps.account()
  const take = (onFault: (fault: LineFault) => void, isTrial: boolean) => {
    const input = file === '-' ? process.stdin : createReadStream(file)
    return importSuppressions(deps, id, input, { reason, scope, onFault, isTrial })
  }
  const refused: { index: number; error: string }[] = []
  const tell = ({ line, fault }: LineFault) => {
    if (refused.length < faultsShown) refused.push({ index: line - 1, error: fault })
    warn(visibleLines(`line ${line}: ${fault}`))
  }
  if (options.dryRun || (!options.yes && isAtTerminal(deps.place))) {
    const found = await take(options.dryRun ? tell : () => {}, true)
    if (!(await confirmed(deps.place, options, importOf(name, found)))) return
  }
  const { added, known, faults } = await take(tell, false)
  if (faults > 0) process.exitCode = 1
  return {
    json: { added, known, refused, faults },
    say: () => say(`${added} added, ${known} known already, ${counted(faults, 'line')} left out`),
  }
}

/** CSV that `import` takes back, a page of rows at a time. */
async function runExport(options: Options, command: Command): Promise<void> {
  await withStore(placeOf(command), async ({ store: { read } }) => {
    const { id } = await chosenAccount(read, options.account)
    for await (const lines of exportSuppressions(read, id)) {
      // The whole list would not fit into memory, so its reader sets the pace.
      if (!process.stdout.write(lines)) {
        await new Promise((resolve) => process.stdout.once('drain', resolve))
      }
    }
  })
}

/** Each record is named with its reason and date. */
const removalOf = (addresses: readonly string[], records: readonly Suppression[]): Intent => ({
  to: `let ${counted(addresses.length, 'address', 'addresses')} be mailed again`,
  facts: records.map(
    ({ email, reason, createdAt }) => `${email}: ${reason}, ${shownTime(createdAt)}`,
  ),
  counts: { records: records.map(shownSuppression) },
  how: 'mild',
})

/** What a file would do, counted by a first reading. */
const importOf = (account: string, { added, known, faults }: SuppressionImportCounts): Intent => ({
  to: `suppress ${counted(added, 'address', 'addresses')} in "${account}"`,
  facts: [
    `Lines that are known already: ${known}; that cannot be read: ${faults}`,
    'They can be removed again only one by one',
  ],
  counts: { added, known, faults },
  how: 'mild',
})

/** The results of `work`, one after the other, as a transaction needs it. */
async function inTurn<T, R>(some: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (const one of some) done.push(await work(one))
  return done
}

/** An address, also out of `Ann <ann@example.com>`; compared in lower case. */
function addressOf(given: string): string {
  const mailbox = parseMailbox(given)
  if (mailbox === undefined) throw new OperatorError(`"${given}" is not an email address`)
  return mailbox.address.toLowerCase()
}
