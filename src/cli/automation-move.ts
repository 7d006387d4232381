import { type Command, Option } from 'commander'
import { counted, shownCount } from '../amounts/index.js'
import {
  findAnyAutomation,
  judgeBackfill,
  liveAsked,
  type MoveGroup,
  makeLiveLimit,
  makeVersions,
  moveRuns,
  newestVersion,
  planMove,
  startBackfill,
  startForContact,
  stopBackfill,
} from '../automations/index.js'
import { type Plans, readBilling } from '../billing/index.js'
import { answering, answeringWith, type CommandDeps } from './answering.js'
import { type MeantOptions, meantBy, meantOptions } from './automation-cancel.js'
import { runs } from './automation-change.js'
import type { CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { listOf } from './contact.js'
import { contactOf } from './contact-one.js'
import { versionOrLatest, wholeNumber } from './option-values.js'
import { remark, say, sayTable } from './output.js'
import { settingsOf } from './place.js'
import { plansOf } from './plan.js'

/** `automation move` and `start`. */
export const moveAutomationRows: readonly CommandRow[] = [
  {
    usage: 'move <automation>',
    about: 'let live runs of older versions go on by the steps of a newer one',
    options: [
      ...askOptions(),
      new Option('--to <version>', "a version that was enabled, or 'latest'")
        .argParser(versionOrLatest)
        .makeOptionMandatory(),
      ...meantOptions(),
    ],
    help: `Examples:
  $ posthorn automation move Welcome --to latest --dry-run
  $ posthorn automation move Welcome --to latest --step paid --from 2

A run moves if the version has a step with the key and type of the one at which it is, a wait for the same
event. What it waits for stays as it is: a delay that is longer in the new version is not made longer.`,
    run: answering(move),
  },
  {
    usage: 'start <automation>',
    about: 'start an automation for the contacts of a list, so many an hour, or for one contact',
    options: [
      ...askOptions(),
      new Option('--list <list>', 'id or name of the list'),
      new Option('--contact <contact>', 'for this contact alone: id or address').conflicts([
        'list',
        'stop',
      ]),
      new Option('--per-hour <count>', 'how many runs start in an hour')
        .default(1_000)
        // More than a million an hour is a slip of the finger: no site takes so much.
        .argParser(wholeNumber(1, 1_000_000)),
      new Option('--stop', 'start no more of those that an earlier start is about'),
    ],
    help: `Examples:
  $ posthorn automation start Welcome --list Readers --dry-run
  $ posthorn automation start Welcome --list Readers --per-hour 500
  $ posthorn automation start Welcome --contact ada@example.com

The automation is to be enabled. Its filter, how often a contact may enter it, and suppressions apply; the
event that begins such a run is named "$backfill", and its payload is {"listId": ...}. A running appliance
starts the runs and goes on after a restart; 'posthorn automation show' says how far it is.`,
    run: answeringWith(
      (place) => ({ plans: plansOf(place), ...settingsOf(place).automations }),
      start,
    ),
  },
]

/**
 * A run keeps the version in which it began, so that an edit never changes a sequence that somebody
 * is in. A move is the exception that an operator asks for; it is first shown by groups of runs.
 */
async function move(
  deps: CommandDeps,
  named: string,
  options: { to: number | 'latest' } & MeantOptions & AskOptions,
) {
  const { read } = deps.store
  const found = await findAnyAutomation(read, named)
  const version = options.to === 'latest' ? await newestVersion(read, found) : options.to
  const meant = meantBy(options)
  const isAny = Object.keys(meant).length > 0
  const only = isAny ? await liveAsked(read, found.id, meant) : undefined
  const groups = await planMove(read, found, version, { only })
  const answer = (json: Moved) => ({ json, say: () => sayMoved(json) })
  // --dry-run shows the whole table of groups; the question has only their sums.
  if (options.dryRun) return answer({ version, moved: null, groups })
  const intent = movingOf(found.name, version, groups)
  const isEmpty = groups.every(({ stays }) => stays !== null)
  if (!isEmpty && !(await confirmed(deps.place, options, intent))) return
  const moved = await moveRuns(deps, found, version, { only })
  return answer({ version, moved, groups: await planMove(read, found, version, { only }) })
}

/**
 * Runs that stay are told too, as nobody would look for them: a run stays if the new version has no
 * step of the same key and type.
 */
function movingOf(name: string, version: number, groups: readonly MoveGroup[]): Intent {
  const sum = (moves: boolean) =>
    groups
      .filter(({ stays }) => (stays === null) === moves)
      .reduce((all, group) => all + group.runs, 0)
  return {
    to: `move ${runs(sum(true))} of "${name}" to version ${version}`,
    facts: [`Runs of older versions that stay, as --dry-run explains: ${shownCount(sum(false))}`],
    counts: { version, moves: sum(true), stays: sum(false) },
    how: 'moderate',
  }
}

/** `moved` is null when nothing was written: by --dry-run, or because nothing could move. */
interface Moved {
  version: number
  moved: number | null
  groups: readonly MoveGroup[]
}

function sayMoved({ version, moved, groups }: Moved): void {
  if (moved !== null) say(`Moved: ${runs(moved)} to version ${version}`)
  if (groups.length === 0) {
    if (moved === null) say(`Every live run is of version ${version}`)
    return
  }
  if (moved !== null) say('These stay:')
  sayTable(
    ['VERSION', 'STEP', 'TYPE', 'RUNS', 'MOVES'],
    groups.map(({ version, step, type, runs, stays }) => [
      String(version),
      step,
      type,
      shownCount(runs),
      stays === null ? 'yes' : `no: ${stays}`,
    ]),
    '',
  )
  if (moved === null) remark('Nothing was moved: without --dry-run it is')
}

/** Options of `automation start`. */
interface StartOptions extends AskOptions {
  list?: string
  contact?: string
  perHour: number
  stop?: true
}

/**
 * Starting an automation over a list mails people who did nothing at this moment. So the command
 * first counts who would enter and who would not (filter, re-entry, suppression), by the code that
 * later decides for each contact, and asks. `--stop` ends an earlier start.
 */
async function start(
  deps: CommandDeps & StartOneSettings,
  named: string,
  options: StartOptions,
  command: Command,
) {
  const { store, clock, place } = deps
  const { list, perHour, dryRun = false } = options
  if (options.contact !== undefined) return await startOne(deps, named, options.contact, options)
  if (!options.stop && list === undefined) {
    command.error('error: a list is missing: name it by --list ID, or a contact by --contact')
  }
  const automation = await findAnyAutomation(store.read, named)
  if (options.stop) return stopped(await stopBackfill({ store, clock }, automation))
  const listId = await listOf(store.read, automation.account_id, list ?? '')
  const judging = { store, clock, versions: makeVersions() }
  const crowd = { listId }
  const { seen, starts, again, refused } = await judgeBackfill(judging, automation, crowd)
  const intent: Intent = {
    to: `start ${runs(starts)} of "${automation.name}", at most ${counted(perHour, 'run')} an hour`,
    facts: [
      'What they mail cannot be taken back',
      `Contacts that are left out, as --dry-run explains: ${shownCount(seen - starts)}`,
      ...(again === 0 ? [] : [`Contacts that have been in it before: ${shownCount(again)}`]),
    ],
    counts: { starts, contacts: seen, perHour },
    how: 'moderate',
  }
  // --dry-run needs no question: its output below has all of the question's figures, and more.
  if (!dryRun && starts > 0 && !(await confirmed(place, options, intent))) return
  if (!dryRun) await startBackfill({ store, clock }, automation, { crowd, perHour })
  // To a tenth of an hour: a finer figure would pretend to know how busy the appliance is.
  const hours = Math.ceil((starts / perHour) * 10) / 10
  return {
    json: {
      contacts: seen,
      starts,
      again,
      refused: Object.fromEntries(refused),
      perHour,
      hours,
      begun: !dryRun,
    },
    say() {
      const when = hours <= 0.1 ? 'at once' : `in about ${counted(hours, 'hour')}`
      const whom = `${runs(starts)} for ${counted(seen, 'contact')}, ${when}`
      say(dryRun ? `It would start ${whom}` : `A running appliance starts ${whom}`)
      if (again > 0) say(`${shownCount(again)} of these have been in it before`)
      sayTable(
        ['NOT STARTED', 'WHY'],
        [...refused].map(([reason, count]) => [shownCount(count), reason]),
        '',
      )
      if (dryRun) remark('Nothing was started: without --dry-run it is')
      else remark(`'posthorn automation show ${automation.id}' says how far it is`)
    },
  }
}

/**
 * Ends the start over the list, not the runs that it has begun: whoever got the first mail of a
 * sequence gets the rest.
 */
const stopped = ({ seen, started }: { seen: number; started: number }) => ({
  json: { seen, started },
  say: () =>
    say(`Stopped after ${counted(seen, 'contact')}; the ${runs(started)} that began go on`),
})

interface StartOneSettings {
  plans: Plans
  maxLiveRuns: number
}

/**
 * Starts one contact, whatever event starts the automation; the running appliance takes up the run
 * within seconds.
 */
async function startOne(
  { store, clock, place, plans, maxLiveRuns }: CommandDeps & StartOneSettings,
  named: string,
  whom: string,
  options: AskOptions,
) {
  const {
    account_id: accountId,
    id: automationId,
    name,
  } = await findAnyAutomation(store.read, named)
  const { id: contactId, email } = await contactOf(store.read, accountId, whom)
  const intent: Intent = {
    to: `start "${name}" for ${email}`,
    facts: ['What it mails cannot be taken back'],
    counts: { starts: 1 },
    how: 'moderate',
  }
  if (!(await confirmed(place, options, intent))) return
  const isLimited = makeLiveLimit(maxLiveRuns)
  const starting = {
    store,
    clock,
    versions: makeVersions(),
    isFull: () => isLimited(store.read, clock.now()),
    automate: () => {},
  }
  const billing = await readBilling(store.read, plans, accountId)
  const { id } = await startForContact(starting, billing, { automationId, contactId })
  return { json: { id, contactId }, say: () => say(`The run ${id} of "${name}" has begun`) }
}
