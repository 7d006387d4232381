import type { Command } from 'commander'
import { counted, shownCount } from '../amounts/index.js'
import { readBilling } from '../billing/index.js'
import * as operations from '../broadcasts/contract.js'
import {
  type Broadcast,
  broadcastStanding,
  broadcastsAnswer,
  duplicateBroadcast,
  judgeDraft,
  listBroadcasts,
  ratesOf,
  recipientCount,
  sendDraft,
  shownMade,
  type Unmeasured,
  unmeasuredOf,
} from '../broadcasts/index.js'
import { answeringWith, type CommandDeps } from './answering.js'
import { archiveBroadcastRows } from './broadcast-archive.js'
import { changeBroadcastRows } from './broadcast-change.js'
import { measuredShare, measuring } from './broadcast-measured.js'
import { rehearseBroadcastRows } from './broadcast-rehearse.js'
import { reportBroadcastRows } from './broadcast-report.js'
import { chosenBroadcast, showBroadcastRows, stopOf } from './broadcast-show.js'
import { variantBroadcastRows } from './broadcast-variant.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { accountOption } from './database.js'
import { limitOption } from './option-values.js'
import { jsonTime, remark, say, sayTable, shownTime } from './output.js'
import type { CommandPlace } from './place.js'
import { plansOf } from './plan.js'
import { withRenderer } from './template.js'

/** `posthorn broadcast`: campaigns of any account. */
export function broadcastCommands(program: Command): void {
  const broadcast = program
    .command('broadcast')
    .description('campaigns: how far they are, and what to do about them')
  addCommands(broadcast, rows)
}

/** The plans are read from the settings' files. */
const planned = (place: CommandPlace) => ({ plans: plansOf(place) })
type Planned = CommandDeps & ReturnType<typeof planned>

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    does: operations.listBroadcasts,
    about: 'show the campaigns of an account, newest first',
    options: [accountOption(), limitOption()],
    help: "Example:\n  $ posthorn broadcast list --account 'City library'",
    run: answeringWith(measuring, list),
  },
  ...showBroadcastRows,
  ...reportBroadcastRows,
  ...rehearseBroadcastRows,
  {
    usage: 'duplicate <id>',
    does: operations.duplicateBroadcast,
    about: 'copy a campaign into a draft, without its time',
    help: 'Example:\n  $ posthorn broadcast duplicate 01a1fc92-9915-7533-8296-04ee3d91dd72',
    run: answeringWith(planned, duplicate),
  },
  {
    usage: 'send <id>',
    does: operations.sendBroadcast,
    about: 'send a draft, or schedule it if it has a time to come',
    options: askOptions(),
    help: 'Example:\n  $ posthorn broadcast send 01a1fc92-9915-7533-8296-04ee3d91dd72',
    run: answeringWith(planned, send),
  },
  ...changeBroadcastRows,
  ...variantBroadcastRows,
  ...archiveBroadcastRows,
]

/** `stop` is the same for all campaigns of an account, so it is read once. */
async function list(
  { store, tracking, clock, account }: CommandDeps & ReturnType<typeof measuring>,
  { limit }: { limit: number },
) {
  const { read } = store
  const { id } = await account()
  const now = clock.now()
  const json = await broadcastsAnswer(read, id, { limit }, now)
  const found = await listBroadcasts(read, id, { limit })
  const stop = await stopOf(read, id)
  const unmeasured = await Promise.all(found.map((one) => unmeasuredOf({ store, tracking }, one)))
  return {
    json,
    say() {
      sayBroadcasts(found, { unmeasured, stop, now })
      if (json.hasMore) remark('There are more: --limit shows them')
    },
  }
}

function sayBroadcasts(
  broadcasts: readonly Broadcast[],
  {
    unmeasured,
    stop,
    now,
  }: { unmeasured: readonly Unmeasured[]; stop: string | null; now: number },
): void {
  const rows = broadcasts.map((one, at) => {
    const { openRate, clickRate } = ratesOf(one)
    // Nothing is measured of a campaign that has not begun, whatever its content and its domain
    // say.
    const share = (why: string | null | undefined, count: number, rate: number) =>
      one.sent_at === null ? '-' : measuredShare(why ?? null, count, rate)
    return [
      one.id,
      broadcastStanding(one, stop, now).status,
      shownCount(recipientCount(one)),
      shownCount(one.delivered + one.relayed),
      shownCount(one.bounced + one.failed),
      share(unmeasured[at]?.opens, one.opened, openRate),
      share(unmeasured[at]?.clicks, one.clicked, clickRate),
      whenOf(one),
      (one.name ?? one.subject).slice(0, 40),
    ]
  })
  const titles = ['RECIPIENTS', 'ARRIVED', 'FAILED', 'OPENED', 'CLICKED', 'SENT', 'NAME']
  sayTable(['ID', 'STATUS', ...titles], rows, 'No campaign yet')
}

/** No mail leaves before somebody sends the copy. */
async function duplicate({ store, clock, plans }: Planned, id: string) {
  const { account_id } = await chosenBroadcast(store.read, id)
  const billing = await readBilling(store.read, plans, account_id)
  // The files are not copied, so none is fetched.
  const attachments = { maxBytes: 0, maxCount: 0, fetchFile: async () => undefined as never }
  const made = await withRenderer({ store, clock }, (renderer) =>
    duplicateBroadcast(
      { store, clock, plans, renderer, attachments, expand: () => {} },
      billing,
      id,
    ),
  )
  return { json: shownMade(made), say: () => say(`${made.id} is a draft: “${made.name}”`) }
}

/**
 * The audience is judged before the question, so that the question has its number; the list is read
 * again when the campaign is expanded, and only the contacts who are on it then get the mail.
 */
async function send({ store, clock, place, plans }: Planned, id: string, options: AskOptions) {
  const { account_id } = await chosenBroadcast(store.read, id)
  const judged = await judgeDraft({ store, clock, plans }, account_id, id)
  if (!(await confirmed(place, options, sendingOf(judged, clock.now())))) return
  const billing = await readBilling(store.read, plans, account_id)
  // A running appliance looks every few seconds for a campaign to expand.
  const sent = await sendDraft({ store, clock, plans, expand: () => {} }, billing, id, undefined, {
    byOwner: true,
  })
  const whom = counted(sent.audience, 'recipient')
  return {
    json: shownMade(sent),
    say: () =>
      say(
        sent.status === 'scheduled'
          ? `Scheduled for ${shownTime(sent.scheduled_at)}, to ${whom} as it stands now`
          : `On its way to ${whom}; 'posthorn broadcast show ${sent.id} --watch' shows how far it is`,
      ),
  }
}

/** The subject and the number are what shows a mistake. */
function sendingOf({ draft, counts }: Awaited<ReturnType<typeof judgeDraft>>, now: number): Intent {
  const { id, subject, scheduled_at: at } = draft
  const when = at !== null && at > now ? shownTime(at) : 'now'
  return {
    to: `send "${subject}" to ${counted(counts.reachable, 'recipient')}, ${when}`,
    facts: ['What has left cannot be taken back'],
    counts: { id, subject, recipients: counts.reachable, scheduledAt: jsonTime(at) },
    how: 'moderate',
  }
}

/** When it was dispatched, or is going to be. */
function whenOf({ status, sent_at, scheduled_at }: Broadcast): string {
  if (sent_at !== null) return shownTime(sent_at)
  const planned = status === 'draft' || status === 'scheduled' || status === 'paused'
  return planned && scheduled_at !== null ? `for ${shownTime(scheduled_at)}` : '-'
}
