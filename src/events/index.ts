/**
 * What happens to a mail after it was accepted: one row each, which goes when the plan of its account
 * no longer keeps it. What must hold: an event is written in the transaction that changes the state it
 * speaks of, and whatever follows from it (rates, webhook jobs) in the same one.
 */

export {
  type Effect,
  type EventDetail,
  type EventType,
  type LandEvents,
  type MailEvent,
  makeLandEvents,
  readTimeline,
} from './event.js'
export {
  type EventName,
  listEventNames,
  nameEvents,
  namesAmong,
  startEventNames,
  startedByHand,
} from './event-names.js'
export { makeForgetEvents, makeForgetOld, type OldRows, type Retentions } from './forget.js'
export { makeWrittenBy } from './written-by.js'
