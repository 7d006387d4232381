import type { Command } from 'commander'
import {
  type DeliveryStanding,
  type DueStream,
  type Explained,
  explainAll,
  type LiveGate,
  listWaiting,
  type QueueFilter,
  summarise,
} from '../deliveries/index.js'
import { queueClass } from '../store/index.js'
import { addCommands, type CommandRow } from './command-row.js'
import { withStore } from './database.js'
import { limitOption } from './option-values.js'
import { jsonTime, remark, say, sayJson, sayTable, shownSoon, shownTime } from './output.js'
import { type CommandPlace, placeOf } from './place.js'
import { changeRows } from './queue-change.js'
import { type FilterOptions, filterOf, filterOptions } from './queue-filter.js'
import { othersForMachines, othersHeld, sayOthersHeld } from './queue-held.js'
import { deliveryRows, gatesOf, oneLine, shownAge, waitingForMachines } from './queue-show.js'

/** Options of `list` and `held`. */
interface ListOptions extends FilterOptions {
  limit: number
}

// More lines than a screen has would be no summary.
const lanesShown = 20

/** `posthorn queue`: what waits, and what to do about it. */
export function queueCommands(program: Command): void {
  const queue = program
    .command('queue')
    .description('mail that waits: what, why, and what to do about it')
  addCommands(queue, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'summary',
    about: 'how much waits, by class and by domain',
    options: filterOptions(),
    help: `Example:
  $ posthorn queue summary --older-than 1h

STOPPED is due, but of an account that is suspended or paused. GATE is what holds mail to the domain that
is due, as the running appliance knows: 'posthorn queue list --domain' and 'posthorn queue show' say more.`,
    run: runSummary,
  },
  {
    usage: 'list',
    about: 'show what waits, the longest waiting first',
    options: [...filterOptions(), limitOption()],
    help: 'Example:\n  $ posthorn queue list --domain example.com --limit 10',
    run: runList,
  },
  {
    usage: 'held',
    about: 'show what is held, since when and why',
    options: [...filterOptions(), limitOption()],
    help: `Example:
  $ posthorn queue held

Scheduled mail that is overdue by more than an hour when Posthorn starts is held: a database that was
restored, copied or asleep for long must not mail old things by surprise. So is a delivery that cannot be
claimed, or whose result cannot be written: WHY says what is wrong, 'posthorn queue show' what the server
answered. 'posthorn queue release' sends it (again), 'posthorn queue fail' discards it. Campaigns that are
overdue like that, that could not go on, or that an operator has paused are shown below (with --json under
"campaigns", beside "deliveries"): 'posthorn broadcast resume' and 'posthorn broadcast cancel' are for them.
So are runs of automations (with --json under "runs"): 'posthorn automation resume' is for them. So are
webhooks that waited in a backup, or for an endpoint that was switched off (under "webhooks"): 'posthorn
webhook replay ID --failed' sends them; those that nobody sends go when the account's plan keeps them no longer.`,
    run: runHeld,
  },
  ...deliveryRows,
  ...changeRows,
]

/**
 * Counting a million rows takes a second or two; the appliance tells the gates, and only of the
 * domains that are shown.
 */
async function runSummary(options: FilterOptions, command: Command): Promise<void> {
  const place = placeOf(command)
  const { classes, lanes, now } = await withStore(place, async ({ store, clock }) => {
    const now = clock.now()
    const filter = await filterOf(store.read, options, now)
    return { ...(await summarise(store.read, filter, { now, lanes: lanesShown })), now }
  })
  const gateOf = ({ class: name, ...rest }: DueStream) =>
    gatesOf(place)({ ...rest, class: queueClass[name] })
  const gates = await Promise.all(
    lanes.map(async ({ first, ...row }) => [row, first && (await gateOf(first))] as const),
  )
  if (place.json) {
    const shown = <T extends DeliveryStanding>(row: T) => ({
      ...row,
      oldestAt: jsonTime(row.oldestAt),
    })
    return sayJson({
      classes: classes.map(shown),
      domains: gates.map(([row, gate]) => forMachines(row, gate)),
    })
  }
  const cells = (row: DeliveryStanding) => [
    ...[row.waiting, row.due, row.inFlight, row.deferred, row.scheduled].map(String),
    String(row.held),
    String(row.stopped),
    shownAge(now - row.oldestAt),
  ]
  const states = ['WAITING', 'DUE', 'IN FLIGHT', 'DEFERRED', 'SCHEDULED', 'HELD', 'STOPPED']
  const titles = [...states, 'OLDEST']
  const byClass = classes.map((row) => [row.class, ...cells(row)])
  sayTable(['CLASS', ...titles], byClass, nothingWaits)
  if (lanes.length === 0) return
  say()
  sayTable(
    ['DOMAIN', ...titles, 'GATE'],
    gates.map(([row, gate]) => [row.lane, ...cells(row), gate?.gate ?? '-']),
    '',
  )
  if (lanes.length === lanesShown) remark(`Those ${lanesShown} domains with the most waiting`)
}

/** Each delivery with the gate that holds it now. */
async function runList(options: ListOptions, command: Command): Promise<void> {
  const place = placeOf(command)
  await sayList(place, options, {}, ({ delivery, why }, now) => {
    return {
      ID: String(delivery.id),
      TO: delivery.recipient,
      CLASS: delivery.class,
      AGE: shownAge(now - delivery.acceptedAt),
      TRIES: String(delivery.attempts),
      STATE: why.gate,
      NEXT: shownSoon(why.until, now),
      'LAST REPLY': oneLine(delivery.lastReply ?? '').slice(0, 60),
    }
  })
}

/**
 * Held mail, campaigns, runs and webhooks together: an operator after a restore must not need to
 * know that these are four tables.
 */
async function runHeld(options: ListOptions, command: Command): Promise<void> {
  const place = placeOf(command)
  await sayList(place, options, { held: true }, ({ delivery }) => ({
    ID: String(delivery.id),
    TO: delivery.recipient,
    CLASS: delivery.class,
    'HELD SINCE': shownTime(delivery.held?.since ?? null),
    'WAS DUE': shownTime(delivery.held?.dueAt ?? null),
    WHY: oneLine(delivery.held?.reason ?? ''),
  }))
  if (!place.json) sayOthersHeld(await othersHeld(place, options))
}

const nothingWaits = 'Nothing waits'

/** `list` and `held` differ in their columns and in `more`, which narrows the choice. */
async function sayList(
  place: CommandPlace,
  options: ListOptions,
  more: QueueFilter,
  row: (explained: Explained, now: number) => Record<string, string>,
): Promise<void> {
  const { found, shown, now } = await withStore(place, async ({ store: { read }, clock }) => {
    const now = clock.now()
    const filter = { ...(await filterOf(read, options, now)), ...more }
    const found = await listWaiting(read, filter, options.limit + 1)
    const first = found.slice(0, options.limit)
    return { found, shown: await explainAll(read, first, now, gatesOf(place)), now }
  })
  if (place.json) {
    const deliveries = shown.map(waitingForMachines)
    if (!more.held) sayJson(deliveries)
    else sayJson({ deliveries, ...othersForMachines(await othersHeld(place, options)) })
  } else {
    const rows = shown.map((explained) => row(explained, now))
    const none = more.held ? 'No mail is held' : nothingWaits
    sayTable(Object.keys(rows[0] ?? {}), rows.map(Object.values<string>), none)
  }
  if (found.length > options.limit) remark('There are more: --limit shows them')
}

/** A domain of the summary, for scripts. */
function forMachines(
  { lane, ...row }: DeliveryStanding & { lane: string },
  gate: LiveGate | undefined,
) {
  const live = gate && { gate: gate.gate, says: gate.says, until: jsonTime(gate.until ?? null) }
  return { domain: lane, ...row, oldestAt: jsonTime(row.oldestAt), gate: live ?? null }
}
