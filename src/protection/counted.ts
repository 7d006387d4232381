import { sql } from 'kysely'
import { applianceAccountId } from '../accounts/index.js'
import type { MailEvent } from '../events/index.js'
import { simulatorDomain } from '../simulator/index.js'
import { type DeliveryRow, idsOf, prepared, queueClass, type Tx } from '../store/index.js'
import { providerOf } from './providers.js'
import type { ProtectionSettings } from './thresholds.js'
import type { Totals } from './window.js'

/** What an event adds to its account's counts. */
export interface Counted {
  accountId: string
  at: number
  /** Undefined: of the mail as a whole. */
  provider: string | undefined
  recipients: 0 | 1
  bounces: 0 | 1
  complaints: 0 | 1
  marketing: boolean
}

const ends: readonly MailEvent['type'][] = ['delivered', 'relayed', 'bounced']

/**
 * Those of `events`, which are in the log already, that count, in their order. A recipient counts
 * once: what is told later of the same delivery (a bounce after the 250, a second report) adds no
 * recipient, and nothing counts twice.
 */
export async function countedOf(
  tx: Tx,
  events: readonly MailEvent[],
  { countSimulator }: Pick<ProtectionSettings, 'countSimulator'>,
): Promise<Counted[]> {
  const told = events.filter(
    (event) =>
      (ends.includes(event.type) || event.type === 'complained') &&
      event.accountId !== applianceAccountId &&
      (countSimulator || !event.recipient?.toLowerCase().endsWith(`@${simulatorDomain}`)),
  )
  if (told.length === 0) return []
  const { times, hardBounces } = await timesTold(tx, told)
  const remotes = await remotesOf(tx, told)
  return told.flatMap((event) => {
    const { type, recipient, deliveryId, detail } = event
    const remote = remotes.get(deliveryId) ?? null
    const once = (types: readonly MailEvent['type'][]) =>
      types.includes(type) && times(event, types) <= 1 ? 1 : 0
    const counted: Counted = {
      accountId: event.accountId,
      at: event.at,
      provider: recipient === null ? undefined : providerOf(recipient, remote),
      recipients: once(ends),
      // A refusal that nobody has classified is a hard one; a soft one told before does not excuse it.
      bounces: type === 'bounced' && !isSoft(detail) && hardBounces(event) <= 1 ? 1 : 0,
      complaints: once(['complained']),
      // Campaigns and automations: what a pause of marketing stops.
      marketing: event.class !== queueClass.transactional,
    }
    return counted.recipients + counted.bounces + counted.complaints > 0 ? [counted] : []
  })
}

/** How often events of these types are in the log for the delivery of `event`, itself included. */
async function timesTold(tx: Tx, events: readonly MailEvent[]) {
  const emails = JSON.stringify([...new Set(events.map(({ emailId }) => emailId))])
  const rows = await toldOf(tx, { emails })
  const key = (deliveryId: number | null, type: string) => `${deliveryId} ${type}`
  const counts = new Map(rows.map((row) => [key(row.delivery_id, row.type), row]))
  const all = ({ deliveryId }: MailEvent, types: readonly MailEvent['type'][]) =>
    types.flatMap((type) => counts.get(key(deliveryId, type)) ?? [])
  return {
    times: (event: MailEvent, types: readonly MailEvent['type'][]) =>
      event.deliveryId === null ? 1 : all(event, types).reduce((sum, { count }) => sum + count, 0),
    hardBounces: (event: MailEvent) =>
      all(event, ['bounced']).reduce((sum, { count, soft }) => sum + count - soft, 0),
  }
}

const isSoft = (detail: MailEvent['detail']) => detail?.bounceType === 'Transient'

interface Told {
  delivery_id: number
  type: MailEvent['type']
  count: number
  /** Of these the bounces that say nothing lasting. */
  soft: number
}

const soft = sql<number>`sum(case when detail like '%"bounceType":"Transient"%' then 1 else 0 end)`

const toldOf = prepared<{ emails: string }, Told>((db, { emails }) =>
  db
    .selectFrom('events')
    .select(({ fn }) => ['delivery_id', 'type', fn.countAll<number>().as('count')])
    .select(soft.as('soft'))
    .where('email_id', 'in', idsOf(emails))
    .where('type', 'in', [...ends, 'complained'])
    .where('delivery_id', 'is not', null)
    .groupBy(['delivery_id', 'type'])
    .$castTo<Told>(),
)

/** Which MX answered last, by delivery. */
async function remotesOf(tx: Tx, events: readonly MailEvent[]) {
  const ids = JSON.stringify(events.map(({ deliveryId }) => deliveryId))
  const rows = await answeredBy(tx, { ids })
  return new Map<number | null, string | null>(rows.map(({ id, remote }) => [id, remote]))
}

const answeredBy = prepared<{ ids: string }, Pick<DeliveryRow, 'id' | 'remote'>>((db, { ids }) =>
  db.selectFrom('deliveries').select(['id', 'remote']).where('id', 'in', idsOf(ids)),
)

/** As counters of the account. */
export const totalsOf = ({
  recipients,
  bounces,
  complaints,
  marketing,
}: Counted): Partial<Totals> =>
  marketing
    ? {
        ...{ recipients, bounces, complaints },
        marketing_recipients: recipients,
        marketing_bounces: bounces,
        marketing_complaints: complaints,
      }
    : { recipients, bounces, complaints }
