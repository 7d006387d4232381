import { Option } from 'commander'
import { findAccount } from '../accounts/index.js'
import { shownCount } from '../amounts/index.js'
import { stoppedBy } from '../billing/index.js'
import * as operations from '../broadcasts/contract.js'
import {
  type Broadcast,
  broadcastAnswer,
  broadcastStanding,
  findAnyBroadcast,
  listUndelivered,
  type MeasureDeps,
  ratesOf,
  reachedWords,
  recipientCount,
  unmeasuredOf,
  waitsForRoom,
} from '../broadcasts/index.js'
import type { Read } from '../store/index.js'
import { answeringWith, type CommandDeps } from './answering.js'
import { askAppliance, overviewMs } from './ask.js'
import { rememberAccount } from './audited.js'
import { measuredShare, measuring } from './broadcast-measured.js'
import { watchBroadcast } from './broadcast-watch.js'
import type { CommandRow } from './command-row.js'
import { remark, sayFields, sayTable, shownTime } from './output.js'
import type { CommandPlace } from './place.js'
import { oneLine } from './queue-show.js'

// As many rows as a terminal or a script can still take in at once.
const mostUndelivered = 10_000

/** `broadcast show`. */
export const showBroadcastRows: readonly CommandRow[] = [
  {
    usage: 'show <id>',
    does: operations.getBroadcast,
    about: 'show how far a campaign is and what became of its mails',
    options: [
      new Option('--watch', 'stay and show its progress until it ends'),
      new Option('--failed', 'list whom it did not reach, with what their servers said'),
    ],
    help: 'Example:\n  $ posthorn broadcast show 01a1fc92-9915-7533-8296-04ee3d91dd72 --watch',
    run: answeringWith(measuring, show),
  },
]

/** `--failed` is a list of its own, as it may be long; all else fits on a screen. */
async function show(
  deps: CommandDeps & ReturnType<typeof measuring>,
  id: string,
  options: { watch?: true; failed?: true },
) {
  const { store, clock, place } = deps
  const { read } = store
  if (options.failed) return await undelivered(read, id)
  if (options.watch) {
    const look = async () => {
      const broadcast = await findAnyBroadcast(read, id)
      return { broadcast, stop: await stopOf(read, broadcast.account_id) }
    }
    await watchBroadcast({ look, clock, out: process.stdout, json: place.json })
    // The last line of the watch has already told everything.
    if (place.json) return
  }
  const found = await findAnyBroadcast(read, id)
  const stop = await stopOf(read, found.account_id)
  const now = clock.now()
  const noRoom = waitsForRoom(found, stop, false) ? await saysOfRoom(place) : null
  if (place.json && noRoom !== null) remark(`Its mails wait: ${noRoom}`)
  const one = { accountId: found.account_id, id: found.id }
  const fields = await forPeople(deps, found, { stop, noRoom, now })
  return {
    json: await broadcastAnswer(read, one, { hasRoom: noRoom === null, now }),
    say: () => sayFields(fields),
  }
}

/** Why the running appliance has no room for more mail, or null; it alone knows. */
async function saysOfRoom(place: CommandPlace): Promise<string | null> {
  const overview = (await askAppliance(place, { overview: true }, overviewMs))?.overview
  if (overview === undefined || overview.hasRoomForCampaigns) return null
  const full = overview.unready.find(({ what }) => what === 'room' || what === 'queue')
  return full?.says ?? 'The queue is nearly full (outbound.max_queued)'
}

/** The campaign, and with it the account that the command is about. */
export async function chosenBroadcast(read: Read, id: string): Promise<Broadcast> {
  const broadcast = await findAnyBroadcast(read, id)
  rememberAccount(broadcast.account_id)
  return broadcast
}

/** Why the account's campaigns do not go on now, or null. */
export const stopOf = async (read: Read, accountId: string) =>
  (await stoppedBy(read, accountId, 'marketing')) ?? null

/**
 * From the log of deliveries, with the last reply word for word: an operator has to see whether the
 * address, the content or the reputation is at fault.
 */
async function undelivered(read: Read, id: string) {
  const broadcast = await findAnyBroadcast(read, id)
  const found = await listUndelivered(read, broadcast.id, mostUndelivered)
  return {
    json: found,
    say() {
      sayTable(
        ['TO', 'STATUS', 'EMAIL', 'REPLY'],
        found.map(({ email, status, emailId, reply }) => [
          email,
          status,
          emailId,
          oneLine(reply ?? '-'),
        ]),
        reachedWords(broadcast),
      )
      if (found.length === mostUndelivered) remark(`The first ${shownCount(mostUndelivered)}`)
    },
  }
}

/**
 * Rates are against delivered mail (the contract), so they are empty before anything is delivered.
 */
async function forPeople(
  deps: MeasureDeps,
  broadcast: Broadcast,
  { stop, noRoom, now }: { stop: string | null; noRoom: string | null; now: number },
): Promise<Record<string, string>> {
  const { status, reason } = broadcastStanding(broadcast, stop, now)
  const { openRate, clickRate } = ratesOf(broadcast)
  const account = await findAccount(deps.store.read, broadcast.account_id)
  const unmeasured = await unmeasuredOf(deps, broadcast)
  const measured = (why: string | null, count: number, percent: number) =>
    why === null ? measuredShare(why, count, percent) : `not measured: ${why}`
  const { recipients, audience, expanded } = broadcast
  const all = recipientCount(broadcast)
  const more = status === 'draft' || status === 'scheduled' ? ' when it was made' : ''
  const unmade = Math.max(0, audience - recipients)
  const making = expanded === 0 && broadcast.sent_at !== null && unmade > 0
  return {
    Campaign: broadcast.id,
    ...(broadcast.name === null ? {} : { Name: broadcast.name }),
    Subject: broadcast.subject,
    From: broadcast.from_header,
    Account: `${account.name} (${account.id})`,
    Status: reason === null ? status : `${status}: ${oneLine(reason)}`,
    ...(broadcast.scheduled_at === null ? {} : { Scheduled: shownTime(broadcast.scheduled_at) }),
    Sent: shownTime(broadcast.sent_at),
    Ended: shownTime(broadcast.ended_at),
    Recipients: `${shownCount(all)}${more}`,
    ...(making
      ? {
          'Not made yet': `${shownCount(unmade)}${noRoom === null ? '' : `, and they wait: ${noRoom}`}`,
        }
      : {}),
    Waiting: shownCount(broadcast.waiting),
    Delivered: shownCount(broadcast.delivered),
    ...(broadcast.relayed === 0 ? {} : { 'By smart host': shownCount(broadcast.relayed) }),
    Bounced: shownCount(broadcast.bounced),
    'Given up': shownCount(broadcast.failed),
    'Left out': `${shownCount(broadcast.suppressed)} who left or were suppressed since it was made`,
    Cancelled: shownCount(broadcast.cancelled),
    Opened: measured(unmeasured.opens, broadcast.opened, openRate),
    Clicked: measured(unmeasured.clicks, broadcast.clicked, clickRate),
  }
}
