import { applianceAccountId } from '../accounts/index.js'
import type { MailEvent } from '../events/index.js'
import { isSimulated } from '../simulator/index.js'
import { type DeliveryRow, idsOf, prepared, queueClass, type Tx } from '../store/index.js'
import { isFirstInWindow } from './once.js'
import { providerOf } from './providers.js'
import type { ProtectionSettings } from './thresholds.js'
import type { Counted, Totals } from './window.js'

// The events that end a delivery by a server's decision.
const ends: readonly MailEvent['type'][] = ['delivered', 'relayed', 'bounced']

/**
 * The events that count, in their order. A recipient counts once, with the first end of the
 * delivery: a bounce after the 250 adds none. An address counts with one hard bounce and one proved
 * complaint in a window, however often its mails bounce and it complains.
 */
export async function countedOf(
  tx: Tx,
  events: readonly MailEvent[],
  settings: Pick<ProtectionSettings, 'countSimulator' | 'window'>,
): Promise<Counted[]> {
  const told = events.filter(
    (event) =>
      (ends.includes(event.type) || event.type === 'complained') &&
      event.accountId !== applianceAccountId &&
      (settings.countSimulator || !isSimulated(event.recipient ?? '')),
  )
  if (told.length === 0) return []
  const remotes = await remotesOf(tx, told)
  const all: Counted[] = []
  for (const event of told) {
    const counted: Counted = {
      accountId: event.accountId,
      at: event.at,
      provider: providerIn(event, remotes.get(event.deliveryId) ?? null),
      recipients: ends.includes(event.type) && event.before === undefined ? 1 : 0,
      bounces: 0,
      complaints: 0,
      unproved: 0,
      // Campaigns and automations: what a pause of marketing stops.
      marketing: event.class !== queueClass.transactional,
      countedAt: undefined,
      complainedOf: undefined,
    }
    const fault = faultOf(event)
    if (fault !== undefined && (await isFirstInWindow(tx, event, fault, settings.window))) {
      counted[counterOfFault[fault]] = 1
      if (fault !== 'unproved' && counted.recipients === 0) counted.countedAt = event.answeredAt
      if (fault === 'complaint') counted.complainedOf = hostOf(event, remotes.get(event.deliveryId))
    }
    if (counted.recipients + counted.bounces + counted.complaints + counted.unproved > 0) {
      all.push(counted)
    }
  }
  return all
}

/** Which counter a fault adds to. */
const counterOfFault = { bounce: 'bounces', complaint: 'complaints', unproved: 'unproved' } as const

/** The counter that an event adds to against its account. */
function faultOf(event: MailEvent): keyof typeof counterOfFault | undefined {
  const { type, detail, recipient } = event
  // An unclassified refusal counts as a hard one.
  if (type === 'bounced') return detail?.bounceType === 'Transient' ? undefined : 'bounce'
  if (type !== 'complained') return undefined
  // The simulator has no key to sign with; if it counts at all, its word is enough.
  return detail?.evidence !== undefined || isSimulated(recipient ?? '') ? 'complaint' : 'unproved'
}

/** The host of a complaint, for its site's brake; undefined if no server of the recipient took the mail. */
function hostOf({ recipient }: MailEvent, remote: string | null | undefined) {
  const [host = ''] = (remote ?? '').split(' ', 1)
  if (recipient === null || host === '') return undefined
  return { host, domain: recipient.slice(recipient.lastIndexOf('@') + 1).toLowerCase() }
}

/** Undefined for an event about the mail as a whole. */
const providerIn = ({ recipient }: MailEvent, remote: string | null) =>
  recipient === null ? undefined : providerOf(recipient, remote)

/** The MX that answered last, by delivery; looked up for events that do not tell it. */
async function remotesOf(tx: Tx, events: readonly MailEvent[]) {
  const untold = events.filter(({ remote }) => remote === undefined)
  const ids = JSON.stringify(untold.map(({ deliveryId }) => deliveryId))
  const rows = untold.length === 0 ? [] : await answeredBy(tx, { ids })
  const told = events.map(({ deliveryId, remote = null }) => [deliveryId, remote] as const)
  return new Map([...told, ...rows.map(({ id, remote }) => [id, remote] as const)])
}

/** By the primary key, all at once. */
const answeredBy = prepared<{ ids: string }, Pick<DeliveryRow, 'id' | 'remote'>>((db, { ids }) =>
  db.selectFrom('deliveries').select(['id', 'remote']).where('id', 'in', idsOf(ids, 'integer')),
)

/** Counted events as the account's counters. */
export const totalsOf = ({
  recipients,
  bounces,
  complaints,
  unproved,
  marketing,
}: Counted): Partial<Totals> =>
  marketing
    ? {
        recipients,
        bounces,
        complaints,
        unproved,
        marketing_recipients: recipients,
        marketing_bounces: bounces,
        marketing_complaints: complaints,
      }
    : { recipients, bounces, complaints, unproved }
