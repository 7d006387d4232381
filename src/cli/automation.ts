import { type Command, Option } from 'commander'
import { shownCount } from '../amounts/index.js'
import * as operations from '../automations/contract.js'
import {
  automationPage,
  automationsAnswer,
  findAnyAutomation,
  findAnyRun,
  makeVersions,
  type RunStatus,
  runPage,
  runStatuses,
  runsAnswer,
  shownRun,
  whyOf,
} from '../automations/index.js'
import { changeAutomationRows } from './automation-change.js'
import { moveAutomationRows } from './automation-move.js'
import { showAutomationRows, statusOf } from './automation-show.js'
import { walkAutomationRows } from './automation-walk.js'
import { addCommands, type CommandRow } from './command-row.js'
import { accountOption, chosenAccount, withStore } from './database.js'
import { limitOption, severalOf } from './option-values.js'
import { remark, say, sayFields, sayJson, sayTable, shownTime } from './output.js'
import { placeOf } from './place.js'

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
    run: runList,
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
      limitOption(),
    ],
    help: `Examples:
  $ posthorn automation runs Welcome --status running,waiting
  $ posthorn automation runs 01a1fc92-9915-7533-8296-04ee3d91dd72 --status failed`,
    run: runRuns,
  },
  {
    usage: 'why <run>',
    does: operations.getRun,
    about: 'say in a sentence why a run is where it is and until when, and what it did',
    help: `Example:
  $ posthorn automation why 01a1fc92-9915-7533-8296-04ee3d91dd72

Runs have their ids from POST /v1/events/send ("runId") and from 'posthorn automation runs'.`,
    run: runWhy,
  },
  ...walkAutomationRows,
  ...changeAutomationRows,
  ...moveAutomationRows,
]

/** The automations of one account, with how many runs are where. */
async function runList(
  options: { account?: string; limit: number },
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const found = await withStore(place, async ({ store: { read } }) => {
    const { id } = await chosenAccount(read, options.account)
    return await automationPage(read, id, { limit: options.limit })
  })
  if (place.json) return sayJson(automationsAnswer(found))
  const titles = ['RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CONTACTS', 'NAME']
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
}

/** However many it looks at: a process of its own, for which nobody else waits. */
async function runRuns(
  named: string,
  options: { status?: readonly RunStatus[]; limit: number },
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const { found, why } = await withStore(place, async (deps) => {
    const { read } = deps.store
    const automation = await findAnyAutomation(read, named)
    const { status: statuses = runStatuses, limit } = options
    const most = Number.POSITIVE_INFINITY
    const found = await runPage(read, automation.id, { statuses, limit, most })
    // Runs of the same version share one compiled graph.
    const versions = makeVersions()
    const why: string[] = []
    for (const run of found.runs) why.push(await whyOf({ ...deps, versions }, automation, run))
    return { found, why }
  })
  if (place.json) return sayJson(runsAnswer(found))
  sayTable(
    ['RUN', 'CONTACT', 'STATUS', 'VERSION', 'STARTED', 'WHY'],
    found.runs.map((run, index) => [
      run.id,
      run.email ?? '(deleted)',
      run.status,
      String(run.version),
      shownTime(run.startedAt),
      why[index] ?? '',
    ]),
    'No run',
  )
  if (found.nextCursor !== null) remark('There are more: --limit shows them')
}

/**
 * The sentence is made of the run, its automation and the state of the account now: a run may wait
 * for something that is in none of its own columns.
 */
async function runWhy(id: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const { run, why, automation } = await withStore(place, async (deps) => {
    const run = await findAnyRun(deps.store.read, id)
    const automation = await findAnyAutomation(deps.store.read, run.automationId)
    const why = await whyOf({ ...deps, versions: makeVersions() }, automation, run)
    return { run, why, automation }
  })
  if (place.json) return sayJson({ ...shownRun(run), why })
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
}
