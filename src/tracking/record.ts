import { sql, type UpdateResult } from 'kysely'
import { pastClass } from '../deliveries/index.js'
import type { LandEvents, MailEvent } from '../events/index.js'
import { prepared, type QueueClass, type Tx } from '../store/index.js'
import type { Allowance } from './allowance.js'
import { machineVisit } from './judge.js'
import type { HitKind } from './machines.js'
import type { Copy } from './token.js'
import type { Hit, Tally, Visit } from './visits.js'

export interface RecordDeps {
  land: LandEvents
  allowance: Allowance
  /** Sooner after the delivery a machine asks; 0: the time tells nothing. */
  machineWithinMs: number
}

/**
 * Writes visits: what people did is counted on the mail, and everything has its event, machines'
 * apart. Visits to mail that is gone leave nothing.
 */
export async function recordVisits(
  tx: Tx,
  deps: RecordDeps,
  visits: readonly Visit[],
): Promise<void> {
  const events: MailEvent[] = []
  for (const visit of visits) {
    const [sent] = await sentCopy(tx, visit)
    if (sent === undefined) continue
    const at = sent.endedAt ?? sent.lastAttemptAt
    // A delivery that the log has forgotten is an old one.
    const known = sent.recipient !== null
    const machine = known ? machineVisit(visit, { at }, deps.machineWithinMs) : {}
    await count(tx, visit, machine)
    const of = {
      accountId: visit.accountId,
      emailId: visit.emailId,
      deliveryId: visit.deliveryId,
      recipient: sent.recipient,
      class: sent.class ?? (await pastClass(tx, { ...visit, type: sent.type })),
    }
    for (const kind of kinds) {
      const told = toldHits(deps.allowance, visit, kind, machine[kind])
      events.push(
        ...told.map((hit) => ({
          ...of,
          type: kind,
          at: hit.at,
          reply: null,
          detail: detailOf(hit, machine[kind]),
        })),
      )
    }
  }
  await deps.land(tx, events)
}

const kinds: readonly HitKind[] = ['opened', 'clicked']

/** The hits that have an event: people's before machines', each as far as there is room. */
function toldHits(
  allowance: Allowance,
  visit: Visit,
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

async function count(
  tx: Tx,
  visit: Visit,
  machine: { opened?: string; clicked?: string },
): Promise<void> {
  const opens = machine.opened === undefined ? visit.opened.people : nobody
  const clicks = machine.clicked === undefined ? visit.clicked.people : nobody
  if (opens.count + clicks.count === 0) return
  await countVisit(tx, {
    emailId: visit.emailId,
    opens: opens.count,
    clicks: clicks.count,
    openedAt: opens.hits[0]?.at ?? null,
    clickedAt: clicks.hits[0]?.at ?? null,
  })
}

const nobody: Tally['people'] = { count: 0, hits: [] }

interface Counted {
  emailId: string
  opens: number
  clicks: number
  openedAt: number | null
  clickedAt: number | null
}

// A time that is null compares as null, which leaves what is there.
const countVisit = prepared<Counted, UpdateResult>((db, visit) =>
  db
    .updateTable('emails')
    .set({
      opens: sql`opens + ${visit.opens}`,
      clicks: sql`clicks + ${visit.clicks}`,
      opened_at: sql`case when opened_at <= ${visit.openedAt} then opened_at
        else coalesce(${visit.openedAt}, opened_at) end`,
      clicked_at: sql`case when clicked_at <= ${visit.clickedAt} then clicked_at
        else coalesce(${visit.clickedAt}, clicked_at) end`,
    })
    .where('id', '=', visit.emailId),
)

interface SentCopy {
  type: 'transactional' | 'marketing'
  recipient: string | null
  endedAt: number | null
  lastAttemptAt: number | null
  class: QueueClass | null
}

/** What is known of a copy; asked with its account, which the token names. */
const sentCopy = prepared<Copy, SentCopy>((db, { accountId, emailId, deliveryId }) =>
  db
    .selectFrom('emails')
    .leftJoin('deliveries', (join) =>
      join.onRef('deliveries.email_id', '=', 'emails.id').on('deliveries.id', '=', deliveryId),
    )
    .leftJoin('queue', (join) =>
      join.onRef('queue.email_id', '=', 'emails.id').on('queue.id', '=', deliveryId),
    )
    .select(['emails.type', 'ended_at as endedAt', 'last_attempt_at as lastAttemptAt', 'class'])
    .select(({ fn }) => fn.coalesce('deliveries.recipient', 'queue.recipient').as('recipient'))
    .where('emails.id', '=', emailId)
    .where('emails.account_id', '=', accountId),
)
