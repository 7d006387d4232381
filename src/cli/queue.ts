import { type Command, InvalidArgumentError } from 'commander'
import { listPaused } from '../broadcasts/index.js'
import {
  explainWaiting,
  type LiveGate,
  listWaiting,
  type QueueFilter,
  type Standing,
  summarise,
  type Waiting,
} from '../deliveries/index.js'
import { withStore } from './database.js'
import { jsonTime, remark, say, sayJson, sayTable, shownTime } from './output.js'
import { type Place, placeOf } from './place.js'
import { changeCommands } from './queue-change.js'
import { type FilterOptions, filterOf, withFilters } from './queue-filter.js'
import {
  deliveryCommands,
  liveGateOf,
  oneLine,
  shownAge,
  waitingForMachines,
} from './queue-show.js'

interface ListOptions extends FilterOptions {
  limit: number
}

const lanesShown = 20

export function queueCommands(program: Command): void {
  const queue = program
    .command('queue')
    .description('mail that waits: what, why, and what to do about it')

  withFilters(queue.command('summary'))
    .description('how much waits, by class and by domain')
    .addHelpText('after', '\nExample:\n  $ posthorn queue summary --older-than 1h')
    .action(async (options: FilterOptions, command: Command) => {
      const place = placeOf(command)
      const { classes, lanes, now } = await withStore(place, async ({ store, clock }) => {
        const now = clock.now()
        const filter = await filterOf(store.read, options, now)
        return { ...(await summarise(store.read, filter, { now, lanes: lanesShown })), now }
      })
      if (place.json) {
        const shown = <T extends Standing>(row: T) => ({ ...row, oldestAt: jsonTime(row.oldestAt) })
        return sayJson({ classes: classes.map(shown), domains: lanes.map(forMachines) })
      }
      const cells = (row: Standing) => [
        ...[row.waiting, row.due, row.inFlight, row.deferred, row.scheduled, row.held].map(String),
        shownAge(now - row.oldestAt),
      ]
      const titles = ['WAITING', 'DUE', 'IN FLIGHT', 'DEFERRED', 'SCHEDULED', 'HELD', 'OLDEST']
      const byClass = classes.map((row) => [row.class, ...cells(row)])
      sayTable(['CLASS', ...titles], byClass, nothingWaits)
      if (lanes.length === 0) return
      say()
      sayTable(
        ['DOMAIN', ...titles],
        lanes.map((row) => [row.lane, ...cells(row)]),
        '',
      )
      if (lanes.length === lanesShown) remark(`Those ${lanesShown} domains with the most waiting`)
    })

  withFilters(queue.command('list'))
    .description('show what waits, the longest waiting first')
    .option('--limit <count>', 'how many at most', count, 50)
    .addHelpText('after', '\nExample:\n  $ posthorn queue list --domain example.com --limit 10')
    .action(async (options: ListOptions, command: Command) => {
      const place = placeOf(command)
      await sayList(place, options, {}, (delivery, now, live) => {
        const why = explainWaiting(delivery, alone, now, live)
        return {
          ID: String(delivery.id),
          TO: delivery.recipient,
          CLASS: delivery.class,
          AGE: shownAge(now - delivery.acceptedAt),
          TRIES: String(delivery.attempts),
          STATE: why.gate,
          NEXT: shownTime(why.until),
          'LAST REPLY': oneLine(delivery.lastReply ?? '').slice(0, 60),
        }
      })
    })

  withFilters(queue.command('held'))
    .description('show what is held, since when and why')
    .option('--limit <count>', 'how many at most', count, 50)
    .addHelpText(
      'after',
      `
Example:
  $ posthorn queue held

Scheduled mail that is overdue by more than an hour when Posthorn starts is held: a database that was
restored, copied or asleep for long must not mail old things by surprise. 'posthorn queue release'
sends it, 'posthorn queue fail' discards it. Campaigns of which that is true, or that an operator has
paused, are shown below: 'posthorn broadcast resume' and 'posthorn broadcast cancel' are for them.`,
    )
    .action(async (options: ListOptions, command: Command) => {
      const place = placeOf(command)
      await sayList(place, options, { held: true }, (delivery) => ({
        ID: String(delivery.id),
        TO: delivery.recipient,
        CLASS: delivery.class,
        'HELD SINCE': shownTime(delivery.held?.since ?? null),
        'WAS DUE': shownTime(delivery.held?.dueAt ?? null),
        WHY: oneLine(delivery.held?.reason ?? ''),
      }))
      if (!place.json) await sayPausedCampaigns(place, options)
    })

  deliveryCommands(queue)
  changeCommands(queue)
}

async function sayPausedCampaigns(place: Place, options: ListOptions): Promise<void> {
  const paused = await withStore(place, async ({ store: { read }, clock }) => {
    const { accountId, broadcastId } = await filterOf(read, options, clock.now())
    const found = await listPaused(read, accountId)
    return broadcastId === undefined ? found : found.filter(({ id }) => id === broadcastId)
  })
  if (paused.length === 0) return
  say()
  sayTable(
    ['PAUSED CAMPAIGN', 'SUBJECT', 'WAS DUE', 'WHY'],
    paused.map((one) => [
      one.id,
      one.subject.slice(0, 40),
      shownTime(one.scheduled_at ?? one.created_at),
      oneLine(one.reason ?? ''),
    ]),
    '',
  )
  remark("'posthorn broadcast resume ID' lets one go on, 'posthorn broadcast cancel ID' ends it")
}

const nothingWaits = 'Nothing waits'
/** A list tells the state and the gate; 'queue show' looks at what else is around a delivery. */
const alone = { accountStop: undefined, laneInFlight: 0, ahead: 0 }

async function sayList(
  place: Place,
  options: ListOptions,
  more: QueueFilter,
  row: (delivery: Waiting, now: number, live?: LiveGate) => Record<string, string>,
): Promise<void> {
  const { found, now } = await withStore(place, async ({ store: { read }, clock }) => {
    const filter = { ...(await filterOf(read, options, clock.now())), ...more }
    return { found: await listWaiting(read, filter, options.limit + 1), now: clock.now() }
  })
  const shown = found.slice(0, options.limit)
  const gateOf = await liveGates(place, shown, now)
  if (place.json) {
    sayJson(shown.map((delivery) => waitingForMachines(delivery, alone, now, gateOf(delivery))))
  } else {
    const rows = shown.map((delivery) => row(delivery, now, gateOf(delivery)))
    const none = more.held ? 'Nothing is held' : nothingWaits
    sayTable(Object.keys(rows[0] ?? {}), rows.map(Object.values<string>), none)
  }
  if (found.length > options.limit) remark('There are more: --limit shows them')
}

// Each is a question to the running appliance.
const maxStreams = 100

/** At which gates of the running appliance those stand that are due: one question a stream. */
async function liveGates(place: Place, deliveries: readonly Waiting[], now: number) {
  const keyOf = ({ lane, class: name, accountId }: Waiting) => [lane, name, accountId].join(' ')
  const due = deliveries.filter(({ dueAt, held }) => held === null && dueAt <= now)
  const streams = [...new Map(due.map((delivery) => [keyOf(delivery), delivery]))]
  const gates = new Map(
    await Promise.all(
      streams
        .slice(0, maxStreams)
        .map(async ([key, delivery]) => [key, await liveGateOf(place, delivery)] as const),
    ),
  )
  return (delivery: Waiting) => gates.get(keyOf(delivery))
}

function forMachines({ lane, ...row }: Standing & { lane: string }) {
  return { domain: lane, ...row, oldestAt: jsonTime(row.oldestAt) }
}

function count(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It is a number from 1 on.')
  return Number(text)
}
