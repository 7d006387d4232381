import { Option } from 'commander'
import * as operations from '../automations/contract.js'
import {
  type Automation,
  countLive,
  findAnyAutomation,
  meantRunsIn,
  orderTakeOut,
  shownTakeOut,
} from '../automations/index.js'
import { OperatorError } from '../errors/index.js'
import { answering, type CommandDeps } from './answering.js'
import { runs } from './automation-change.js'
import type { CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { givenTo } from './given.js'
import { asTyped, wholeNumber } from './option-values.js'
import { say } from './output.js'

/** Which live runs are meant. */
export interface MeantOptions {
  step?: string
  from?: number
  waiting?: string
}

/** The options that say which runs are meant. */
export const meantOptions = (): Option[] => [
  new Option('--step <key>', 'only runs at the step with this key').argParser(asTyped),
  new Option('--from <version>', 'only runs of this version').argParser(wholeNumber(1, 1e9)),
  new Option(
    '--waiting <reason>',
    'only runs that cannot go on by themselves: held, quota, domain …',
  ).argParser(asTyped),
]

/** These options by the names of the API. */
export const meantBy = ({ step, from, waiting }: MeantOptions) => ({
  ...(step !== undefined && { step }),
  ...(from !== undefined && { version: from }),
  ...(waiting !== undefined && { waiting }),
})

/** `automation cancel`. */
export const cancelAutomationRow: CommandRow = {
  usage: 'cancel <automation>',
  does: operations.cancelRuns,
  about: 'stop all live runs of an automation, or those that fit',
  options: [
    ...askOptions(),
    ...meantOptions(),
    new Option('--everybody', 'all live runs, where no other option says which'),
  ],
  help: `Examples:
  $ posthorn automation cancel Welcome --step paid
  $ posthorn automation cancel Welcome --waiting quota --yes
  $ posthorn automation cancel Welcome --everybody

A running appliance does it, within seconds or minutes, and goes on after a restart. Runs that begin later stay.`,
  run: answering(cancel),
}

async function cancel(
  { store, clock, place }: CommandDeps,
  named: string,
  { everybody, ...options }: MeantOptions & AskOptions & { everybody?: boolean },
) {
  const found = await findAnyAutomation(store.read, named)
  const meant = givenTo(operations.cancelRuns, meantBy(options))
  if (everybody !== true && options.dryRun !== true && Object.keys(meant).length === 0) {
    throw new OperatorError('Nothing says whose runs are meant', {
      advice: 'name them by --step, --from or --waiting, or give --everybody for all of them',
    })
  }
  const filter = await meantRunsIn(store.read, found.id, {
    ...meant,
    everybody,
    dryRun: options.dryRun,
  })
  const fitting = await countLive(store.read, found, filter)
  if (!(await confirmed(place, options, intentOf(found, fitting)))) return
  const says = Object.entries(meant).map(([name, value]) => `${name} ${value}`)
  const order = { filter, says: says.join(', ') || 'Everybody who is in it', startedBy: 'cli' }
  const task = await orderTakeOut({ store, clock }, found, order)
  return {
    json: shownTakeOut(task),
    say: () => say(`A running appliance stops up to ${runs(task.total)}`),
  }
}

const intentOf = ({ id, name, running, waiting }: Automation, fitting: number): Intent => ({
  to: `stop ${runs(fitting)} of "${name}"`,
  facts: [`It has ${runs(running + waiting)} under way`, 'What they would have sent is not sent'],
  counts: { id, runs: fitting },
  how: 'moderate',
})
