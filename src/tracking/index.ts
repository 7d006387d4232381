/**
 * Opens and clicks: links and pixel in outgoing HTML, the signed tokens in them, and the requests that come back.
 * What must hold: in the author's HTML only the values of tracked links change; a token leads to the one target that
 * it was signed for, without a database, and anything else leads nowhere; an answer waits for no commit; the work of
 * machines does not count as reading. `routes.ts` has the public paths; the rest loads in mail threads too. See
 * README.md.
 */

export { openHandOver, recordHits } from './hand-over.js'
export { trackableLinks, trackedTarget } from './links.js'
export type { TrackingAgents } from './machines.js'
export { loadTrackingAgents } from './machines-file.js'
export { type LinkRequest, type MachineSign, makeMachineSign } from './one-request.js'
export { outweighsPixel, weightOf } from './pixel.js'
export { openRecorder, type Recorder, type RecorderDeps } from './recorder.js'
export {
  accountSwitches,
  domainSwitches,
  type OwnSwitches,
  type Switches,
  setSwitches,
  trackingOf,
} from './switches.js'
export { type Copy, makeTrackingTokens, type TrackingTokens } from './token.js'
export { makeTracker, type TrackedMail, type Tracker } from './tracker.js'
export { type UnseenOf, unseenOf, type WhyUnseen, whysUnseen } from './unseen.js'
