/*
 * Owns the way of an event in: contact, limits, keys, and the runs that it starts, wakes and ends. What must hold: a
 * run's waits never miss an event that came after the run began; a contact has one live run of an automation.
 */

export { type AcceptDeps, acceptEvents, tooManyRuns } from './accept.js'
export { type Engagements, readEngagement } from './engagement.js'
export { makeFollowAutomations } from './follow.js'
export { makeFollowSegments } from './follow-segments.js'
export { type Hearer, hearersOf } from './hearers.js'
export { insertListens, type Trigger } from './insert-runs.js'
export { type LiveLimit, makeFollowContacts, makeLiveLimit } from './listeners.js'
export type { AcceptedEvent, EventInput } from './repeats.js'
export { type SeenEvent, seenEvents } from './seen.js'
export { type IngestDeps, type NewEvent, storeEvents, type TakenEvent } from './store-events.js'
export { judgeStarts, startRuns } from './triggers.js'
