import { sql, type UpdateResult } from 'kysely'
import { classOfMail, type MailKind } from '../deliveries/index.js'
import type { EventDetail, LandEvents, MailEvent } from '../events/index.js'
import { boundCell, preparedOver, type QueueClass, type Tx } from '../store/index.js'
import type { Allowance } from './allowance.js'
import type { HitKind } from './machines.js'
import { type Hit, type HitTally, type HitVisit, machineVisit } from './visits.js'

export interface RecordDeps {
  land: LandEvents
  allowance: Allowance
  /** A request sooner after the delivery counts as a machine's; 0: the time tells nothing. */
  machineWithinMs: number
}

/**
 * Writes visits: people's are counted on the mail, and all get an event, in which machines' are marked. Visits to
 * mail that is gone leave nothing. One statement writes all; a statement for each would take three times as long.
 */
export async function recordVisits(
  tx: Tx,
  deps: RecordDeps,
  visits: readonly HitVisit[],
): Promise<void> {
  const asked = visits.map((visit) => [visit.emailId, visit.accountId, visit.deliveryId])
  const rows = await sentCopies(tx, asked)
  const copies = new Map(rows.map((copy) => [copy.deliveryId, copy]))
  const counts = new Map<string, Count>()
  const events: MailEvent[] = []
  const seen = new Set<string>()
  for (const visit of visits) {
    const sent = copies.get(visit.deliveryId)
    if (sent === undefined) continue
    const at = sent.endedAt ?? sent.lastAttemptAt
    // A delivery that the log has forgotten is an old one.
    const known = sent.recipient !== null
    const machine = known ? machineVisit(visit, { at }, deps.machineWithinMs) : {}
    count(counts, visit, machine)
    const { accountId, emailId, deliveryId } = visit
    for (const kind of kinds) {
      for (const hit of toldHits(deps.allowance, visit, kind, machine[kind])) {
        events.push({
          accountId,
          emailId,
          deliveryId,
          recipient: sent.recipient,
          class: classOf(sent),
          type: kind,
          at: hit.at,
          reply: null,
          detail: detailOf(hit, machine[kind], sent, seen),
          stepId: sent.stepId,
        })
      }
    }
  }
  if (counts.size > 0) await countVisits(tx, [...counts.values()].map(rowOf))
  await deps.land(tx, events)
}

const kinds: readonly HitKind[] = ['opened', 'clicked']

/** The hits that have an event: people's before machines', as far as there is room. */
function toldHits(
  allowance: Allowance,
  visit: HitVisit,
  kind: HitKind,
  machineVisit: string | undefined,
): readonly Hit[] {
  const { deliveryId, firstAt } = visit
  const { people, machines } = visit[kind]
  const some = ({ hits }: HitTally['people'], machine: boolean) => {
    if (hits.length === 0) return hits
    const room = allowance.take({ deliveryId, kind, machine }, hits.length, firstAt)
    return room === hits.length ? hits : hits.slice(0, room)
  }
  const first = some(people, machineVisit !== undefined)
  return machines.count === 0 ? first : [...first, ...some(machines, true)]
}

/** The detail of a hit's event; it says so where no person had opened (or clicked in) the mail before. */
function detailOf(
  hit: Hit,
  machineVisit: string | undefined,
  sent: SentCopy,
  seen: Set<string>,
): EventDetail {
  const detail: EventDetail = {}
  const sign = hit.machine ?? machineVisit
  if (sign !== undefined) {
    detail.machine = true
    detail.sign = sign
  }
  if (hit.target !== undefined) detail.url = hit.target
  detail.userAgent = hit.userAgent
  const before = hit.kind === 'opened' ? sent.openedAt : sent.clickedAt
  if (sign !== undefined || before !== null) return detail
  const key = `${sent.emailId} ${hit.kind}`
  if (!seen.has(key)) detail.first = true
  seen.add(key)
  return detail
}

/** What people's visits add to a mail. */
interface Count {
  emailId: string
  opens: number
  clicks: number
  openedAt: number | null
  clickedAt: number | null
}

/** Adds a visit to its mail's count; the copies of a mail are counted together. */
function count(
  counts: Map<string, Count>,
  visit: HitVisit,
  machine: { opened?: string; clicked?: string },
): void {
  const opens = machine.opened === undefined ? visit.opened.people : nobody
  const clicks = machine.clicked === undefined ? visit.clicked.people : nobody
  if (opens.count + clicks.count === 0) return
  const { emailId } = visit
  const before = counts.get(emailId)
  counts.set(emailId, {
    emailId,
    opens: opens.count + (before?.opens ?? 0),
    clicks: clicks.count + (before?.clicks ?? 0),
    openedAt: earlier(opens.hits[0]?.at, before?.openedAt),
    clickedAt: earlier(clicks.hits[0]?.at, before?.clickedAt),
  })
}

const nobody: HitTally['people'] = { count: 0, hits: [] }

const earlier = (a: number | null = null, b: number | null = null) =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)

const rowOf = ({ emailId, opens, clicks, openedAt, clickedAt }: Count) => [
  emailId,
  opens,
  clicks,
  openedAt,
  clickedAt,
]

// A comparison with a time of null is null, so the old value stays.
const countVisits = preparedOver<UpdateResult>(5, (db, lines) =>
  db
    .updateTable('emails')
    .from(lines)
    .set({
      opens: sql`opens + ${boundCell(1, 'integer')}`,
      clicks: sql`clicks + ${boundCell(2, 'integer')}`,
      opened_at: sql`case when opened_at <= ${boundCell(3, 'integer')} then opened_at
        else coalesce(${boundCell(3, 'integer')}, opened_at) end`,
      clicked_at: sql`case when clicked_at <= ${boundCell(4, 'integer')} then clicked_at
        else coalesce(${boundCell(4, 'integer')}, clicked_at) end`,
    })
    .where('emails.id', '=', boundCell(0, 'text')),
)

interface SentCopy extends MailKind {
  deliveryId: number
  emailId: string
  openedAt: number | null
  clickedAt: number | null
  recipient: string | null
  endedAt: number | null
  lastAttemptAt: number | null
  class: QueueClass | null
}

/** The class in which it was queued. */
const classOf = (sent: SentCopy): QueueClass => sent.class ?? classOfMail(sent)

/** What is known about copies; looked up with their account, which the token names. */
const sentCopies = preparedOver<SentCopy>(3, (db, lines) =>
  db
    .selectFrom(lines)
    .innerJoin('emails', (join) =>
      join
        .on('emails.id', '=', boundCell(0, 'text'))
        .on('emails.account_id', '=', boundCell(1, 'text')),
    )
    .leftJoin('deliveries', (join) =>
      join
        .on('deliveries.id', '=', boundCell(2, 'integer'))
        .onRef('deliveries.email_id', '=', 'emails.id'),
    )
    .leftJoin('queue', (join) =>
      join.on('queue.id', '=', boundCell(2, 'integer')).onRef('queue.email_id', '=', 'emails.id'),
    )
    .select([
      boundCell(2, 'integer').as('deliveryId'),
      'emails.type',
      'automation_step_id as stepId',
    ])
    .select(['emails.id as emailId', 'opened_at as openedAt', 'clicked_at as clickedAt'])
    .select(['ended_at as endedAt', 'last_attempt_at as lastAttemptAt', 'class'])
    .select(({ fn }) => fn.coalesce('deliveries.recipient', 'queue.recipient').as('recipient')),
)
