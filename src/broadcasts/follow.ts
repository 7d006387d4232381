import { sql, type UpdateResult } from 'kysely'
import type { EventType, MailEvent } from '../events/index.js'
import { idsOf, prepared, queueClass, type Tx } from '../store/index.js'

// The events that end a delivery, which are also the counters of its mail.
const counters = ['delivered', 'relayed', 'bounced', 'failed', 'suppressed'] as const
type Counter = (typeof counters)[number]
const isCounter = (type: EventType): type is Counter => counters.some((name) => name === type)
const isOpened = (type: EventType) => type === 'opened' || type === 'clicked'

type Change = Record<Counter | 'waiting' | 'bouncedLate' | 'opened' | 'clicked', number>

/**
 * An effect of events: a campaign's counters follow the results of its mails, each of which has one recipient. The last
 * mail that ends also ends the campaign.
 */
export async function followBroadcasts(tx: Tx, events: readonly MailEvent[]): Promise<void> {
  const concerned = events.filter(
    ({ class: of, type }) => of === queueClass.campaign && (isCounter(type) || isOpened(type)),
  )
  if (concerned.length === 0) return
  const emailIds = JSON.stringify([...new Set(concerned.map(({ emailId }) => emailId))])
  const mails = new Map((await mailsOf(tx, { emailIds })).map((mail) => [mail.id, mail]))
  if (mails.size === 0) return
  const changes = new Map<string, Change>()
  const ofVariants = new Map<string, VariantChange>()
  const restAfter = await restsOf(tx, mails.values())
  for (const event of concerned) {
    const mail = mails.get(event.emailId)
    if (mail === undefined) continue
    const { broadcastId, variant } = mail
    const change = changes.get(broadcastId) ?? noChange()
    changes.set(broadcastId, change)
    add(change, event)
    if (variant === null) continue
    const place = placeOf(broadcastId, variant)
    const ofVariant = ofVariants.get(place) ?? {
      broadcastId,
      variant,
      change: noChange(),
      rest: noChange(),
    }
    ofVariants.set(place, ofVariant)
    add(ofVariant.change, event)
    const last = restAfter.get(place)
    if (last !== undefined && mail.id > last) add(ofVariant.rest, event)
  }
  for (const { broadcastId: id, variant, change, rest } of ofVariants.values()) {
    const restArrived = rest.delivered + rest.relayed
    const { opened: restOpened, clicked: restClicked } = rest
    await countOfVariant(tx, { id, variant, ...change, restArrived, restOpened, restClicked })
  }
  for (const [id, change] of changes) {
    await count(tx, { id, ...change })
    const at = Math.max(...concerned.map((event) => event.at))
    if (change.waiting !== 0) await endIfDone(tx, id, at)
  }
}

interface VariantChange {
  broadcastId: string
  variant: string
  change: Change
  /** The part of the change that is not by mails of the test. */
  rest: Change
}

const placeOf = (broadcastId: string, variant: string) => `${broadcastId} ${variant}`

/** For each of these versions that a rest gets, the last mail of the test, by `placeOf`. */
async function restsOf(
  tx: Tx,
  mails: Iterable<Pick<CampaignMail, 'broadcastId' | 'variant'>>,
): Promise<ReadonlyMap<string, string>> {
  const tried = new Set<string>()
  for (const { broadcastId, variant } of mails) if (variant !== null) tried.add(broadcastId)
  if (tried.size === 0) return new Map()
  const rows = await chosenOf(tx, { broadcastIds: JSON.stringify([...tried]) })
  return new Map(rows.map(({ id, key, last }) => [placeOf(id, key), last]))
}

function add(change: Change, event: MailEvent): void {
  const { type } = event
  if (isCounter(type)) move(change, event.before, type)
  else if (isFirst(event)) change[type === 'opened' ? 'opened' : 'clicked']++
}

/** One update for each campaign and write, however many of its mails had events. */
const noChange = (): Change => ({
  waiting: 0,
  delivered: 0,
  relayed: 0,
  bounced: 0,
  failed: 0,
  suppressed: 0,
  bouncedLate: 0,
  opened: 0,
  clicked: 0,
})

/** A late report moves a mail from one counter to another; any other ends its waiting. */
function move(change: Change, before: MailEvent['before'], after: Counter): void {
  if (before === undefined) change.waiting--
  else if (before !== 'cancelled') change[before]--
  change[after]++
  if (after === 'bounced' && (before === 'delivered' || before === 'relayed')) change.bouncedLate++
}

/** Whether an open or click counts: only a mail's first one does, and none by a machine. */
const isFirst = ({ detail }: MailEvent) => detail?.machine !== true && detail?.first === true

/** A campaign whose last mail has ended is `sent`. */
export async function endIfDone(tx: Tx, id: string, now: number): Promise<void> {
  await endDone(tx, { id, now })
}

interface CampaignMail {
  id: string
  broadcastId: string
  variant: string | null
}

/** Most events are about single mails; the index on `broadcast_id` leaves those out. */
const mailsOf = prepared<{ emailIds: string }, CampaignMail>((db, { emailIds }) =>
  db
    .selectFrom('emails')
    .select(['id', 'variant'])
    .select((eb) => eb.ref('broadcast_id').$notNull().as('broadcastId'))
    .where('id', 'in', idsOf(emailIds, 'text'))
    .where('broadcast_id', 'is not', null),
)

const chosenOf = prepared<{ broadcastIds: string }, { id: string; key: string; last: string }>(
  (db, { broadcastIds }) =>
    db
      .selectFrom('broadcast_variants')
      .select(['broadcast_id as id', 'key'])
      .select((eb) => eb.ref('rest_after').$notNull().as('last'))
      .where('broadcast_id', 'in', idsOf(broadcastIds, 'text'))
      .where('rest_after', 'is not', null),
)

/** Counters are added to and never set, because several threads settle mails of one campaign. */
const count = prepared<Change & { id: string }, UpdateResult>((db, change) =>
  db
    .updateTable('broadcasts')
    .set({
      waiting: sql`waiting + ${change.waiting}`,
      delivered: sql`delivered + ${change.delivered}`,
      relayed: sql`relayed + ${change.relayed}`,
      bounced: sql`bounced + ${change.bounced}`,
      failed: sql`failed + ${change.failed}`,
      suppressed: sql`suppressed + ${change.suppressed}`,
      bounced_late: sql`bounced_late + ${change.bouncedLate}`,
      opened: sql`opened + ${change.opened}`,
      clicked: sql`clicked + ${change.clicked}`,
    })
    .where('id', '=', change.id),
)

interface CountOfVariant extends Change, Record<`rest${'Arrived' | 'Opened' | 'Clicked'}`, number> {
  id: string
  variant: string
}

const countOfVariant = prepared<CountOfVariant, UpdateResult>((db, change) =>
  db
    .updateTable('broadcast_variants')
    .set({
      delivered: sql`delivered + ${change.delivered}`,
      relayed: sql`relayed + ${change.relayed}`,
      bounced: sql`bounced + ${change.bounced}`,
      failed: sql`failed + ${change.failed}`,
      suppressed: sql`suppressed + ${change.suppressed}`,
      opened: sql`opened + ${change.opened}`,
      clicked: sql`clicked + ${change.clicked}`,
      rest_arrived: sql`rest_arrived + ${change.restArrived}`,
      rest_opened: sql`rest_opened + ${change.restOpened}`,
      rest_clicked: sql`rest_clicked + ${change.restClicked}`,
    })
    .where('broadcast_id', '=', change.id)
    .where('key', '=', change.variant),
)

/** `waiting <= 0` and not `= 0`: an end counted twice must not keep a campaign from ever ending. */
const endDone = prepared<{ id: string; now: number }, UpdateResult>((db, { id, now }) =>
  db
    .updateTable('broadcasts')
    .set({ status: 'sent', ended_at: now })
    .where('id', '=', id)
    .where('status', '=', 'sending')
    .where('expanded', '=', 1)
    .where('waiting', '<=', 0),
)
