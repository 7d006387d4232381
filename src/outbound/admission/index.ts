/*
 * Owns 'may a mail start now, and if not, why and until when': which streams have something due, where
 * it goes, whose turn it is, and whether the site, the source address and the connections have room.
 * See README.md for the drawing.
 */
export { type Admission, makeAdmission } from './admission.js'
export { type Composed, type ComposingRoom, makeComposingRoom } from './composing.js'
export { type DeliverySlot, openSiteSlots, smartHostsSite } from './delivery-slots.js'
export type { Admitted } from './paths.js'
export type { OutboundStanding, SiteStanding } from './standing.js'
export { classes, keyOf, type Stream } from './waiting.js'
