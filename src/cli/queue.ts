import { type Command, InvalidArgumentError } from 'commander'
import { countHeld } from '../automations/index.js'
import { listPaused } from '../broadcasts/index.js'
import {
  explainWaiting,
  type LiveGate,
  listWaiting,
  type QueueFilter,
  type Standing,
  type Surroundings,
  stopOf,
  summarise,
  type Waiting,
} from '../deliveries/index.js'
import { queueClass, type Read } from '../store/index.js'
import { withStore } from './database.js'
import { jsonTime, remark, say, sayJson, sayTable, shownSoon, shownTime } from './output.js'
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
    .addHelpText(
      'after',
      `
Example:
  $ posthorn queue summary --older-than 1h

STOPPED is due, but of an account that is suspended or paused. GATE is what holds mail to the domain that
is due, as the running appliance knows: 'posthorn queue list --domain' and 'posthorn queue show' say more.`,
    )
    .action(async (options: FilterOptions, command: Command) => {
      const place = placeOf(command)
      const { classes, lanes, now } = await withStore(place, async ({ store, clock }) => {
        const now = clock.now()
        const filter = await filterOf(store.read, options, now)
        return { ...(await summarise(store.read, filter, { now, lanes: lanesShown })), now }
      })
      const gates = await Promise.all(
        lanes.map(
          async ({ first, ...row }) => [row, first && (await liveGateOf(place, first))] as const,
        ),
      )
      if (place.json) {
        const shown = <T extends Standing>(row: T) => ({ ...row, oldestAt: jsonTime(row.oldestAt) })
        return sayJson({
          classes: classes.map(shown),
          domains: gates.map(([row, gate]) => forMachines(row, gate)),
        })
      }
      const cells = (row: Standing) => [
        ...[row.waiting, row.due, row.inFlight, row.deferred, row.scheduled].map(String),
        ...[String(row.held), String(row.stopped), shownAge(now - row.oldestAt)],
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
    })

  withFilters(queue.command('list'))
    .description('show what waits, the longest waiting first')
    .option('--limit <count>', 'how many at most', count, 50)
    .addHelpText('after', '\nExample:\n  $ posthorn queue list --domain example.com --limit 10')
    .action(async (options: ListOptions, command: Command) => {
      const place = placeOf(command)
      await sayList(place, options, {}, (delivery, around, now, live) => {
        const why = explainWaiting(delivery, around, now, live)
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
restored, copied or asleep for long must not mail old things by surprise. So is a delivery that cannot be
claimed, or whose result cannot be written: WHY says what is wrong, 'posthorn queue show' what the server
answered. 'posthorn queue release' sends it (again), 'posthorn queue fail' discards it. Campaigns that are
overdue like that, that could not go on, or that an operator has paused are shown below (with --json under
"campaigns", beside "deliveries"): 'posthorn broadcast resume' and 'posthorn broadcast cancel' are for them.
So are runs of automations (with --json under "runs"): 'posthorn automation resume' is for them.`,
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
      if (place.json) return
      sayPausedCampaigns(await pausedCampaigns(place, options))
      sayHeldRuns(await heldRuns(place, options))
    })

  deliveryCommands(queue)
  changeCommands(queue)
}

/** With whatever else is held. */
const pausedCampaigns = async (place: Place, options: ListOptions) =>
  await withStore(place, async ({ store: { read }, clock }) => {
    const { accountId, broadcastId } = await filterOf(read, options, clock.now())
    const found = await listPaused(read, accountId)
    return broadcastId === undefined ? found : found.filter(({ id }) => id === broadcastId)
  })

function sayPausedCampaigns(paused: Awaited<ReturnType<typeof pausedCampaigns>>): void {
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

const campaignForMachines = (campaign: Awaited<ReturnType<typeof pausedCampaigns>>[number]) => ({
  id: campaign.id,
  accountId: campaign.account_id,
  name: campaign.name,
  subject: campaign.subject,
  status: campaign.status,
  dueAt: jsonTime(campaign.scheduled_at ?? campaign.created_at),
  reason: campaign.reason,
})

/** How many runs of automations are held; none where something else was asked for. */
const heldRuns = async (place: Place, options: ListOptions) =>
  await withStore(place, async ({ store: { read }, clock }) => {
    const { accountId, ...others } = await filterOf(read, options, clock.now())
    return Object.values(others).some((given) => given !== undefined)
      ? []
      : await countHeld(read, accountId)
  })

function sayHeldRuns(held: Awaited<ReturnType<typeof heldRuns>>): void {
  if (held.length === 0) return
  say()
  sayTable(
    ['HELD RUNS', 'AUTOMATION', 'NAME', 'WAS DUE', 'WHY'],
    held.map(({ runs, automationId, name, oldestDueAt, reason }) => [
      ...[runs.toLocaleString('en-GB'), automationId, name.slice(0, 40)],
      ...[shownTime(oldestDueAt), oneLine(reason ?? '')],
    ]),
    '',
  )
  remark(
    "'posthorn automation resume ID --overdue shift|now|skip' releases them: 'now' makes at most one mail a run at once",
  )
}

const nothingWaits = 'Nothing waits'

async function sayList(
  place: Place,
  options: ListOptions,
  more: QueueFilter,
  row: (
    delivery: Waiting,
    around: Surroundings,
    now: number,
    live?: LiveGate,
  ) => Record<string, string>,
): Promise<void> {
  const { found, now, aroundOf } = await withStore(place, async ({ store: { read }, clock }) => {
    const filter = { ...(await filterOf(read, options, clock.now())), ...more }
    const found = await listWaiting(read, filter, options.limit + 1)
    return { found, now: clock.now(), aroundOf: await stopsAround(read, found) }
  })
  const shown = found.slice(0, options.limit)
  const gateOf = await liveGates(place, shown, now)
  if (place.json) {
    const deliveries = shown.map((delivery) =>
      waitingForMachines(delivery, aroundOf(delivery), now, gateOf(delivery)),
    )
    if (!more.held) sayJson(deliveries)
    else {
      const campaigns = (await pausedCampaigns(place, options)).map(campaignForMachines)
      const runs = (await heldRuns(place, options)).map(({ oldestDueAt, ...one }) => ({
        ...one,
        oldestDueAt: jsonTime(oldestDueAt),
      }))
      sayJson({ deliveries, campaigns, runs })
    }
  } else {
    const rows = shown.map((delivery) => row(delivery, aroundOf(delivery), now, gateOf(delivery)))
    const none = more.held ? 'No mail is held' : nothingWaits
    sayTable(Object.keys(rows[0] ?? {}), rows.map(Object.values<string>), none)
  }
  if (found.length > options.limit) remark('There are more: --limit shows them')
}

/** What stops their accounts, asked once each; 'queue show' looks at what else is around a delivery. */
async function stopsAround(read: Read, deliveries: readonly Waiting[]) {
  const keyOf = ({ class: name, accountId }: Waiting) => [name, accountId].join(' ')
  const streams = new Map(deliveries.map((delivery) => [keyOf(delivery), delivery]))
  const stops = new Map<string, string | undefined>()
  for (const [key, { class: name, accountId }] of streams) {
    stops.set(key, await stopOf(read, { class: queueClass[name], accountId }))
  }
  return (delivery: Waiting): Surroundings => {
    return { accountStop: stops.get(keyOf(delivery)), laneInFlight: 0, ahead: 0 }
  }
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

function forMachines({ lane, ...row }: Standing & { lane: string }, gate: LiveGate | undefined) {
  const live = gate === undefined ? null : { ...gate, until: jsonTime(gate.until ?? null) }
  return { domain: lane, ...row, oldestAt: jsonTime(row.oldestAt), gate: live }
}

function count(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It is a number from 1 on.')
  return Number(text)
}
