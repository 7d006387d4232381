import { sql, type UpdateResult } from 'kysely'
import { classOfMail, type MailKind } from '../deliveries/index.js'
import type { EventDetail, LandEvents, MailEvent } from '../events/index.js'
import { cell, prepared, type QueueClass, rowsOf, type Tx } from '../store/index.js'
import type { Allowance } from './allowance.js'
import type { HitKind } from './machines.js'
import { type Hit, type HitTally, type HitVisit, machineVisit } from './visits.js'

export interface RecordDeps {
  land: LandEvents
  allowance: Allowance
  /** Sooner after the delivery a machine asks; 0: the time tells nothing. */
  machineWithinMs: number
}

/**
 * Writes visits: what people did is counted on the mail, and everything has its event, machines'
 * apart. Visits to mail that is gone leave nothing. A statement for all of them where a statement
 * each would take three times as long.
 */
export async function recordVisits(
  tx: Tx,
  deps: RecordDeps,
  visits: readonly HitVisit[],
): Promise<void> {
  const asked = visits.map((visit) => [visit.emailId, visit.accountId, visit.deliveryId])
  const rows = await sentCopies(tx, { json: JSON.stringify(asked) })
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
    const of = {
      accountId: visit.accountId,
      emailId: visit.emailId,
      deliveryId: visit.deliveryId,
      recipient: sent.recipient,
      class: classOf(sent),
    }
    for (const kind of kinds) {
      for (const hit of toldHits(deps.allowance, visit, kind, machine[kind])) {
        const detail = firstOr(seen, sent, kind, detailOf(hit, machine[kind]))
        events.push({ ...of, type: kind, at: hit.at, reply: null, detail })
      }
    }
  }
  const json = JSON.stringify([...counts.values()].map(rowOf))
  if (counts.size > 0) await countVisits(tx, { json })
  await deps.land(tx, events)
}

const kinds: readonly HitKind[] = ['opened', 'clicked']

/** The hits that have an event: people's before machines', each as far as there is room. */
function toldHits(
  allowance: Allowance,
  visit: HitVisit,
  kind: HitKind,
  machineVisit: string | undefined,
): Hit[] {
  const { deliveryId, firstAt } = visit
  const { people, machines } = visit[kind]
  const some = (hits: readonly Hit[], machine: boolean) =>
    hits.slice(0, allowance.take({ deliveryId, kind, machine }, hits.length, firstAt))
  return [...some(people.hits, machineVisit !== undefined), ...some(machines.hits, true)]
}

function detailOf(hit: Hit, machineVisit: string | undefined) {
  const machine = hit.machine ?? machineVisit
  return {
    ...(machine === undefined ? {} : { machine: true as const, sign: machine }),
    ...(hit.target === undefined ? {} : { url: hit.target }),
    userAgent: hit.userAgent,
  }
}

/** The detail of a hit, which says so where no person had opened (or clicked in) the mail before. */
function firstOr(seen: Set<string>, sent: SentCopy, kind: HitKind, detail: EventDetail) {
  const key = `${sent.emailId} ${kind}`
  const before = kind === 'opened' ? sent.openedAt : sent.clickedAt
  if (detail.machine || before !== null || seen.has(key)) return detail
  seen.add(key)
  return { ...detail, first: true as const }
}

/** What people have added to a mail. */
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
  ...[emailId, opens, clicks, openedAt, clickedAt],
]

// A time that is null compares as null, which leaves what is there.
const countVisits = prepared<{ json: string }, UpdateResult>((db, { json }) =>
  db
    .updateTable('emails')
    .from(rowsOf(json))
    .set({
      opens: sql`opens + ${cell(1, 'integer')}`,
      clicks: sql`clicks + ${cell(2, 'integer')}`,
      opened_at: sql`case when opened_at <= ${cell(3, 'integer')} then opened_at
        else coalesce(${cell(3, 'integer')}, opened_at) end`,
      clicked_at: sql`case when clicked_at <= ${cell(4, 'integer')} then clicked_at
        else coalesce(${cell(4, 'integer')}, clicked_at) end`,
    })
    .where('emails.id', '=', cell(0, 'text')),
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

/** What is known of copies; asked with their account, which the token names. */
const sentCopies = prepared<{ json: string }, SentCopy>((db, { json }) =>
  db
    .selectFrom(rowsOf(json))
    .innerJoin('emails', (join) =>
      join.on('emails.id', '=', cell(0, 'text')).on('emails.account_id', '=', cell(1, 'text')),
    )
    .leftJoin('deliveries', (join) =>
      join
        .on('deliveries.id', '=', cell(2, 'integer'))
        .onRef('deliveries.email_id', '=', 'emails.id'),
    )
    .leftJoin('queue', (join) =>
      join.on('queue.id', '=', cell(2, 'integer')).onRef('queue.email_id', '=', 'emails.id'),
    )
    .select([cell(2, 'integer').as('deliveryId'), 'emails.type', 'automation_step_id as stepId'])
    .select(['emails.id as emailId', 'opened_at as openedAt', 'clicked_at as clickedAt'])
    .select(['ended_at as endedAt', 'last_attempt_at as lastAttemptAt', 'class'])
    .select(({ fn }) => fn.coalesce('deliveries.recipient', 'queue.recipient').as('recipient')),
)
