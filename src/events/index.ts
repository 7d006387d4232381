/**
 * What happens to a mail after it was accepted: one row each, only ever added. What must hold: an
 * event is written in the transaction that changes the state it speaks of, and whatever follows from
 * it (rates, webhook jobs) in the same one.
 */

export type { EventDetail, EventType, MailEvent } from './event.js'
export { type Effect, type LandEvents, makeLandEvents } from './land.js'
export { readTimeline } from './timeline.js'
