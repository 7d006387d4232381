import type { Command } from 'commander'
import { OperatorError } from '../errors/index.js'
import {
  discardParkedReports,
  listParkedReports,
  type ParkedReport,
  readParkedReport,
  retryParkedReports,
} from '../inbound/index.js'
import type { Tx } from '../store/index.js'
import { type AskOptions, asksFirst, confirmed, counted, type Intent } from './confirm.js'
import { withStore } from './database.js'
import { jsonTime, say, sayJson, sayTable, shownTime } from './output.js'
import { placeOf } from './place.js'

/** Bounces and complaints that came, and that cannot be filed: what, why, and what to do about it. */
export function parkedCommands(bounce: Command): void {
  bounce
    .command('parked [id]')
    .description('show the reports that could not be filed, and why; or one of them, as it came')
    .addHelpText(
      'after',
      `
Example:
  $ posthorn bounce parked

A report is parked when something about it, or about the mail that it speaks of, is broken: it changes
nothing, and the others go on. 'posthorn bounce retry' has it read again, 'posthorn bounce discard' drops it.
Of more than 200 the oldest are dropped.`,
    )
    .action(async (given: string | undefined, _options, command: Command) => {
      const place = placeOf(command)
      if (given !== undefined) {
        const id = idOf(given)
        const raw = await withStore(place, ({ store }) => readParkedReport(store.read, id))
        if (raw === undefined) throw unknown(given)
        return void process.stdout.write(raw)
      }
      const found = await withStore(place, ({ store }) => listParkedReports(store.read))
      if (place.json) return sayJson(found.map(forMachines))
      sayTable(
        ['ID', 'RECEIVED', 'FROM', 'TO', 'WHY'],
        found.map(({ id, receivedAt, remoteAddress, recipients, fault }) => [
          ...[String(id), shownTime(receivedAt), remoteAddress, recipients.slice(0, 60)],
          fault ?? 'it is going to be read again',
        ]),
        'Nothing is parked',
      )
    })

  changeCommand(bounce, {
    name: 'retry',
    about: 'have parked reports read again',
    change: retryParkedReports,
    done: 'read again, within a minute where the appliance runs',
  })
  changeCommand(bounce, {
    name: 'discard',
    about: 'drop parked reports; nothing follows from them',
    change: discardParkedReports,
    done: 'dropped',
    isLoss: true,
  })
}

interface Change {
  name: string
  about: string
  change: (tx: Tx, ids?: readonly number[]) => Promise<number>
  done: string
  isLoss?: true
}

function changeCommand(bounce: Command, { name, about, change, done, isLoss }: Change): void {
  const command = bounce.command(`${name} [id...]`)
  if (isLoss) asksFirst(command)
  command
    .description(about)
    .option('--all', 'all that are parked')
    .addHelpText('after', `\nExample:\n  $ posthorn bounce ${name} --all`)
    .action(async (given: string[], options: { all?: true } & AskOptions, command: Command) => {
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
          for (const id of given) if ((await change(tx, [idOf(id)])) === 0) throw unknown(id)
          return given.length
        })
      })
      if (changed === undefined) return
      if (place.json) return sayJson({ changed })
      const reports = changed === 1 ? '1 report is' : `${changed} reports are`
      say(changed === 0 ? 'Nothing is parked' : `${reports} ${done}`)
    })
}

const discardingOf = (reports: readonly ParkedReport[]): Omit<Intent, 'to'> => ({
  facts: ['No bounce or complaint follows from them, and no address is suppressed by them'],
  counts: { reports: reports.map(forMachines) },
  how: 'moderate',
})

function reportOf(parked: readonly ParkedReport[], given: string): ParkedReport {
  const id = idOf(given)
  const report = parked.find((one) => one.id === id)
  if (report === undefined) throw unknown(given)
  return report
}

const unknown = (given: string) =>
  new OperatorError(`No report ${given} is parked; 'posthorn bounce parked' shows those that are`)

function idOf(given: string): number {
  if (!/^\d{1,16}$/.test(given)) throw unknown(given)
  return Number(given)
}

const forMachines = ({ id, receivedAt, parkedAt, ...report }: ParkedReport) => ({
  id: String(id),
  receivedAt: jsonTime(receivedAt),
  parkedAt: jsonTime(parkedAt),
  ...report,
})
