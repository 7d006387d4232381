import { type Command, Option } from 'commander'
import { counted } from '../amounts/index.js'
import { OperatorError } from '../errors/index.js'
import {
  discardParkedReports,
  listParkedReports,
  type ParkedReport,
  readParkedReport,
  retryParkedReports,
} from '../inbound/index.js'
import type { Tx } from '../store/index.js'
import type { CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { withStore } from './database.js'
import { rowNumber } from './option-values.js'
import { jsonTime, say, sayJson, sayTable, shownTime } from './output.js'
import { placeOf } from './place.js'

/** One verb on parked reports. `isLoss`: something is lost, so it asks before. */
interface Change {
  name: string
  about: string
  change: (tx: Tx, ids?: readonly number[]) => Promise<number>
  done: string
  isLoss?: true
}

/**
 * Parked reports are those whose handling met a fault (a broken row, a bug): they change nothing
 * while they lie here, and other reports do not wait for them.
 */
const changes: readonly Change[] = [
  {
    name: 'retry',
    about: 'have parked reports read again',
    change: retryParkedReports,
    done: 'read again, within a minute where the appliance runs',
  },
  {
    name: 'discard',
    about: 'drop parked reports; nothing follows from them',
    change: discardParkedReports,
    done: 'dropped',
    isLoss: true,
  },
]

/** Bounces and complaints that arrived but cannot be filed: what they are, why, and what to do. */
export const parkedRows: readonly CommandRow[] = [
  {
    usage: 'parked [id]',
    about: 'show the reports that could not be filed, and why; or one of them, as it came',
    help: `Example:
  $ posthorn bounce parked

A report is parked when something about it, or about the mail that it speaks of, is broken: it changes
nothing, and the others go on. 'posthorn bounce retry' has it read again, 'posthorn bounce discard' drops it.
Of more than 200 the oldest are dropped.`,
    run: runParked,
  },
  ...changes.map(rowOf),
]

/**
 * With an id the report is written as it was received, byte for byte, for the operator's own
 * reader.
 */
async function runParked(
  given: string | undefined,
  _options: unknown,
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  if (given !== undefined) {
    const id = rowNumber(given, unknown)
    const raw = await withStore(place, ({ store }) => readParkedReport(store.read, id))
    if (raw === undefined) throw unknown(given)
    return void process.stdout.write(raw)
  }
  const found = await withStore(place, ({ store }) => listParkedReports(store.read))
  if (place.json) return sayJson(found.map(forMachines))
  sayTable(
    ['ID', 'RECEIVED', 'FROM', 'TO', 'WHY'],
    found.map(({ id, receivedAt, remoteAddress, recipients, fault }) => [
      String(id),
      shownTime(receivedAt),
      remoteAddress,
      recipients.slice(0, 60),
      fault ?? 'it is going to be read again',
    ]),
    'Nothing is parked',
  )
}

/** The row of a verb. */
function rowOf(change: Change): CommandRow {
  return {
    usage: `${change.name} [id...]`,
    about: change.about,
    options: [...(change.isLoss ? askOptions() : []), new Option('--all', 'all that are parked')],
    help: `Example:\n  $ posthorn bounce ${change.name} --all`,
    run: (given: string[], options: ChangeOptions, command: Command) =>
      run(change, given, options, command),
  }
}

/** `all`: every report that is parked at that moment. */
interface ChangeOptions extends AskOptions {
  all?: true
}

/** Without ids it requires --all: leaving an argument out must not drop bounces silently. */
async function run(
  { name, change, done, isLoss }: Change,
  given: readonly string[],
  options: ChangeOptions,
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const { all } = options
  if ((given.length === 0) === (all === undefined)) {
    command.error("error: name reports, or --all; 'posthorn bounce parked' shows them")
  }
  const changed = await withStore(place, async ({ store }) => {
    const parked = await listParkedReports(store.read)
    const chosen = all ? parked : given.map((id) => reportOf(parked, id))
    const intent = {
      ...discardingOf(chosen),
      to: `${name} ${counted(chosen.length, 'report')}`,
    }
    const asks = isLoss && (chosen.length > 0 || options.dryRun)
    if (asks && !(await confirmed(place, options, intent))) return undefined
    return await store.write(async (tx) => {
      if (all) return await change(tx)
      // All or none: an id that has gone meanwhile rolls back the whole transaction.
      for (const id of given)
        if ((await change(tx, [rowNumber(id, unknown)])) === 0) throw unknown(id)
      return given.length
    })
  })
  if (changed === undefined) return
  if (place.json) return sayJson({ changed })
  const reports = counted(changed, 'report is', 'reports are')
  say(changed === 0 ? 'Nothing is parked' : `${reports} ${done}`)
}

/** A discarded report loses its effect: a dead address stays unsuppressed until its next bounce. */
const discardingOf = (reports: readonly ParkedReport[]): Omit<Intent, 'to'> => ({
  facts: ['No bounce or complaint follows from them, and no address is suppressed by them'],
  counts: { reports: reports.map(forMachines) },
  how: 'moderate',
})

/** The parked report of an id; OperatorError for one that is not there. */
function reportOf(parked: readonly ParkedReport[], given: string): ParkedReport {
  const id = rowNumber(given, unknown)
  const report = parked.find((one) => one.id === id)
  if (report === undefined) throw unknown(given)
  return report
}

const unknown = (given: string) =>
  new OperatorError(`No report ${given} is parked; 'posthorn bounce parked' shows those that are`)

/** A report for scripts; ids are texts, as in the API. */
const forMachines = ({ id, receivedAt, parkedAt, ...report }: ParkedReport) => ({
  id: String(id),
  receivedAt: jsonTime(receivedAt),
  parkedAt: jsonTime(parkedAt),
  ...report,
})
