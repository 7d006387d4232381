/**
 * What happens to a mail after it was accepted: one row each, which is deleted when its account's plan
 * no longer keeps it. What must hold: an event is written in the transaction that changes the state it
 * tells of, and its effects (rates, webhook jobs) in the same one.
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
