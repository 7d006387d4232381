import type { Command } from 'commander'
import { maxRetried } from '../app/control.js'
import { makeEffects } from '../app/effects.js'
import {
  changeFitting,
  findDeliveries,
  giveUp,
  hold,
  lanesOf,
  type QueueFilter,
  release,
  retry,
} from '../deliveries/index.js'
import { OperatorError } from '../errors/index.js'
import type { LandEvents } from '../events/index.js'
import type { Read } from '../store/index.js'
import { askAppliance } from './ask.js'
import { type CliDeps, withStore } from './database.js'
import { remark, say, sayJson } from './output.js'
import { placeOf, settingsOf } from './place.js'
import { type FilterOptions, filterOf, idOf, isChosen, withFilters } from './queue-filter.js'

interface ChangeOptions extends FilterOptions {
  all?: true
  reason?: string
}

interface Change {
  name: string
  about: string
  help: string
  /** Null: it needs none. */
  reason: { about: string; fallback?: string } | null
  /** What has become of that many deliveries. */
  done: (deliveries: string) => string
  /** Instead of that, when the running appliance was told. */
  told?: (deliveries: string) => string
  only?: QueueFilter
  apply: (
    tx: Read,
    ids: readonly number[],
    how: { reason: string; now: number; land: LandEvents },
  ) => ReturnType<typeof hold>
}

const soon = 'A running appliance sees it within 30 seconds.'

const changes: readonly Change[] = [
  {
    name: 'retry',
    about: 'try deferred deliveries now instead of at their next time',
    help: `$ posthorn queue retry --domain example.com

Mail that was never tried keeps its time, so scheduled mail does not leave early. A running appliance
does not wait for the end of a suspension: one message tries the site at once.`,
    reason: null,
    done: (deliveries) => `${deliveries} due now. ${soon}`,
    told: (deliveries) =>
      `${deliveries} due now. At a suspended site one message tries it at once, the others follow if it gets through.`,
    apply: retry,
  },
  {
    name: 'hold',
    about: "keep deliveries from leaving until 'queue release'",
    help: `$ posthorn queue hold --domain example.com --reason 'their postmaster asked'

Mail that is accepted later is not held.`,
    reason: {
      about: 'why, for whoever looks at it later, the sender too',
      fallback: 'held by the operator',
    },
    done: (deliveries) => `${deliveries} held. 'posthorn queue release' lets them go on`,
    only: { held: false },
    apply: hold,
  },
  {
    name: 'release',
    about: 'let held deliveries go on',
    help: '$ posthorn queue release --all',
    reason: null,
    done: (deliveries) => `${deliveries} released. ${soon}`,
    only: { held: true },
    apply: release,
  },
  {
    name: 'fail',
    about: 'end deliveries as failed, held ones too; this cannot be undone',
    help: `$ posthorn queue fail --domain gone.example --reason 'the domain is closed'

The reason is part of the reply that the sender sees.`,
    reason: { about: 'why, for the sender of the mail' },
    done: (deliveries) => `${deliveries} ended as failed`,
    apply: giveUp,
  },
]

/** `queue retry`, `hold`, `release` and `fail`: of named deliveries, or of all that fit. */
export function changeCommands(queue: Command): void {
  for (const change of changes) {
    const command = withFilters(queue.command(`${change.name} [id...]`))
      .description(change.about)
      .option('--all', 'everything that waits')
      .addHelpText('after', `\nExample:\n  ${change.help}`)
      .action((ids: string[], options: ChangeOptions, command: Command) =>
        run(change, ids, options, command),
      )
    const { reason } = change
    if (reason?.fallback !== undefined) {
      command.option('--reason <text>', reason.about, reason.fallback)
    } else if (reason !== null) command.requiredOption('--reason <text>', reason.about)
  }
}

async function run(
  change: Change,
  ids: readonly string[],
  options: ChangeOptions,
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const settings = settingsOf(place)
  const reason = checkedReason(options.reason ?? '-')
  if (ids.length === 0 && !isChosen(options) && !options.all) {
    throw new OperatorError(
      'Name deliveries or emails, choose by an option such as --domain, or --all',
    )
  }
  const lanes = new Set<string>()
  const total = await withStore(place, async (deps) => {
    const { read } = deps.store
    const chosen = await filterOf(read, options, deps.clock.now())
    const named = ids.length === 0 ? {} : { ids: await deliveriesOf(deps, ids) }
    const land = makeEffects(settings, place.dataDir)
    return changeFitting(
      deps,
      { ...chosen, ...named, ...change.only },
      async (tx, slice, now) => {
        if (change.told) for (const lane of await lanesOf(tx, slice)) lanes.add(lane)
        return await change.apply(tx, slice, { reason, now, land })
      },
      (seen) => {
        if (seen % 50_000 === 0 && process.stderr.isTTY) remark(`${numbered(seen)} so far`)
      },
    )
  })
  const { seen, changed, inFlight } = total
  const retried = lanes.size > maxRetried ? 'all' : [...lanes]
  const heard = lanes.size > 0 && (await askAppliance(place, { retry: retried })) !== undefined
  if (place.json) return sayJson({ changed, inFlight, unchanged: seen - changed - inFlight })
  if (seen === 0) return say('Nothing that waits fits')
  const { done, told = done } = change
  const words = heard ? told : done
  say(words(`${numbered(changed)} ${changed === 1 ? 'delivery is' : 'deliveries are'}`))
  if (inFlight > 0) {
    remark(
      `${numbered(inFlight)} in flight, left alone: run it again once their attempts have ended`,
    )
  }
  const others = seen - changed - inFlight
  if (others > 0)
    remark(`${numbered(others)} left as they were: never tried yet, held, or gone meanwhile`)
}

/** The waiting deliveries of what was named; all of it must have some. */
async function deliveriesOf({ store }: CliDeps, given: readonly string[]): Promise<number[]> {
  const found: number[] = []
  for (const id of given) {
    const { waiting, ended } = await findDeliveries(store.read, idOf(id))
    if (waiting.length === 0) {
      const hint = ended.length > 0 ? `; 'posthorn queue show ${id}' tells what became of it` : ''
      throw new OperatorError(`Nothing of ${id} waits${hint}. Nothing was changed`)
    }
    found.push(...waiting.map((delivery) => delivery.id))
  }
  return found
}

function checkedReason(given: string): string {
  const reason = given.trim()
  if (/^\P{Cc}{1,200}$/u.test(reason)) return reason
  throw new OperatorError('The reason has 1 to 200 characters and no control characters')
}

const numbered = (count: number) => count.toLocaleString('en-GB')
