import { preparedInsert, type Tx } from '../store/index.js'
import type { MailEvent } from './event.js'

export type LandEvents = (tx: Tx, events: readonly MailEvent[]) => Promise<void>

/**
 * What else happens when events land, in the same transaction. It runs for every mail: prepared
 * queries on `tx`, and nothing else awaited.
 */
export type Effect = LandEvents

/** Writes events to the log, then lets each effect follow. */
export function makeLandEvents(effects: readonly Effect[]): LandEvents {
  return async (tx, events) => {
    if (events.length === 0) return
    for (const event of events) await insertRow(tx, toRow(event))
    for (const effect of effects) await effect(tx, events)
  }
}

const insertRow = preparedInsert('events')

const toRow = (event: MailEvent) => ({
  account_id: event.accountId,
  email_id: event.emailId,
  delivery_id: event.deliveryId,
  recipient: event.recipient,
  class: event.class,
  type: event.type,
  at: event.at,
  reply: event.reply,
  detail: detailOf(event),
})

/** With how a delivery had ended before, by which the figures count each recipient once. */
function detailOf({ detail, before }: MailEvent): string | null {
  if (before !== undefined) return JSON.stringify({ ...detail, before })
  return detail === null ? null : JSON.stringify(detail)
}
