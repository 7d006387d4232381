import { type Command, Option } from 'commander'
import { shownCount } from '../amounts/index.js'
import * as operations from '../automations/contract.js'
import {
  automationPage,
  automationsAnswer,
  findAnyAutomation,
  findAnyRun,
  fittingPage,
  makeVersions,
  ofPerson,
  type RunStatus,
  runPage,
  runStatuses,
  runsAnswer,
  runsFilterOf,
  shownRun,
  whyOf,
} from '../automations/index.js'
import { answering, type CommandDeps } from './answering.js'
import {
  cancelAutomationRow,
  type MeantOptions,
  meantBy,
  meantOptions,
} from './automation-cancel.js'
import { changeAutomationRows, duplicateAutomationRow } from './automation-change.js'
import { draftAutomationRows } from './automation-draft.js'
import { moveAutomationRows } from './automation-move.js'
import { showAutomationRows, statusOf } from './automation-show.js'
import { walkAutomationRows } from './automation-walk.js'
import { addCommands, type CommandRow } from './command-row.js'
import { accountOption } from './database.js'
import { asTyped, limitOption, severalOf } from './option-values.js'
import { remark, say, sayFields, sayTable, shownTime } from './output.js'

/** `posthorn automation`: what operators look at and do about automations of any account. */
export function automationCommands(program: Command): void {
  const automation = program
    .command('automation')
    .description('automations: what they do, where their runs stand, and what to do about them')
  addCommands(automation, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    does: operations.listAutomations,
    about: 'show the automations of an account, newest first',
    options: [accountOption(), limitOption()],
    help: "Example:\n  $ posthorn automation list --account 'City library'",
    run: answering(list),
  },
  ...showAutomationRows,
  {
    usage: 'runs <automation>',
    does: operations.listRuns,
    about: 'show the runs of an automation, newest first, and why each is where it is',
    options: [
      new Option(
        '--status <names>',
        `only those that are: ${runStatuses.join(', ')} (default: all)`,
      ).argParser(severalOf(runStatuses)),
      ...meantOptions(),
      new Option('--reason <reason>', 'only those that ended for it, with one --status').argParser(
        asTyped,
      ),
      new Option('--email <address>', 'only those of the contact with this address').argParser(
        asTyped,
      ),
      limitOption(),
    ],
    help: `Examples:
  $ posthorn automation runs Welcome --status running,waiting
  $ posthorn automation runs Welcome --step paid --waiting quota
  $ posthorn automation runs Welcome --email ada@example.com
  $ posthorn automation runs 01a1fc92-9915-7533-8296-04ee3d91dd72 --status failed`,
    run: answering(listOfRuns),
  },
  {
    usage: 'why <run>',
    does: operations.getRun,
    about: 'say in a sentence why a run is where it is and until when, and what it did',
    help: `Example:
  $ posthorn automation why 01a1fc92-9915-7533-8296-04ee3d91dd72

Runs have their ids from POST /v1/events/send ("runId") and from 'posthorn automation runs'.`,
    run: answering(why),
  },
  ...walkAutomationRows,
  duplicateAutomationRow,
  ...draftAutomationRows,
  cancelAutomationRow,
  ...changeAutomationRows,
  ...moveAutomationRows,
]

/** The automations of one account, with how many runs are where. */
async function list({ store: { read }, account }: CommandDeps, { limit }: { limit: number }) {
  const found = await automationPage(read, (await account()).id, { limit })
  const titles = ['RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CONTACTS', 'NAME']
  return {
    json: automationsAnswer(found),
    say() {
      sayTable(
        ['ID', 'STATUS', ...titles],
        found.page.map((one) => [
          one.id,
          statusOf(one),
          ...[one.running, one.waiting, one.completed, one.exited, one.failed].map(shownCount),
          shownCount(one.enrolled),
          one.name.slice(0, 40),
        ]),
        'No automation yet',
      )
      if (found.hasMore) remark('There are more: --limit shows them')
    },
  }
}

/**
 * A filter by status alone may look at any number of runs: nobody else waits for a command's
 * process.
 */
async function listOfRuns(
  { store, clock }: CommandDeps,
  named: string,
  {
    status,
    reason,
    email,
    limit,
    ...meant
  }: MeantOptions & {
    status?: readonly RunStatus[]
    reason?: string
    email?: string
    limit: number
  },
) {
  const automation = await findAnyAutomation(store.read, named)
  const isAny =
    [reason, email].some((one) => one !== undefined) || Object.keys(meantBy(meant)).length > 0
  const found = isAny
    ? await fittingPage(store.read, automation.id, {
        filter: await ofPerson(
          store.read,
          automation.account_id,
          await runsFilterOf(store.read, automation.id, {
            ...meantBy(meant),
            status: status?.join(','),
            reason,
          }),
          email,
        ),
        limit,
      })
    : await runPage(store.read, automation.id, {
        statuses: status ?? runStatuses,
        limit,
        most: Number.POSITIVE_INFINITY,
      })
  // Runs of the same version share one compiled graph.
  const deps = { store, clock, versions: makeVersions() }
  const rows: string[][] = []
  for (const run of found.runs) {
    const why = await whyOf(deps, automation, run)
    const { id, email, status, version, startedAt } = run
    rows.push([id, email ?? '(deleted)', status, `${version}`, shownTime(startedAt), why])
  }
  return {
    json: runsAnswer(found),
    say() {
      sayTable(['RUN', 'CONTACT', 'STATUS', 'VERSION', 'STARTED', 'WHY'], rows, 'No run')
      if (found.nextCursor !== null) remark('There are more: --limit shows them')
    },
  }
}

/**
 * The sentence is made from the run, its automation and the account's present state: a run may wait
 * for something that is in none of its own columns.
 */
async function why({ store, clock }: CommandDeps, id: string) {
  const run = await findAnyRun(store.read, id)
  const automation = await findAnyAutomation(store.read, run.automationId)
  const why = await whyOf({ store, clock, versions: makeVersions() }, automation, run)
  return {
    json: { ...shownRun(run), why },
    say() {
      sayFields({
        Run: run.id,
        Automation: `${automation.name} (${automation.id}), version ${run.version}`,
        Contact: run.email ?? '(deleted)',
        Started: shownTime(run.startedAt),
        Status: run.status,
        Why: why,
      })
      say()
      sayTable(
        ['AT', 'STEP', 'RESULT', 'EMAIL'],
        run.history.map(({ at, step, result, emailId }) => [
          shownTime(at),
          step ?? '-',
          result,
          emailId ?? '',
        ]),
        run.contactId === null
          ? 'What it did was forgotten with its contact'
          : 'It has not taken a step yet',
      )
    },
  }
}
