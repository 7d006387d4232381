/**
 * What recipients of marketing mail decide themselves: the signed links in each mail, its headers
 * and footer, and the pages behind them. What must hold: a link acts for the one account, address,
 * purpose and topic that it was signed for, for ever; opening it changes nothing, only a POST does; a
 * link that was not made here tells nothing. `routes.ts` has the pages; the rest loads in mail threads.
 */

export { alone } from './alone.js'
export { coloursPath } from './colours.js'
export { stringsIn } from './languages.js'
export { leaveWords } from './leave-reasons.js'
export {
  makePreferenceLinks,
  makeUnsubscribeLinks,
  makeViewLinks,
  type PreferenceLinks,
  type Recipient,
  shownLinks,
  shownToken,
  type UnsubscribeLinks,
  type UnsubscribeTarget,
} from './link.js'
export {
  type CopyLinks,
  type Footer,
  filledForNobody,
  footerPlace,
  makeFooterPlaces,
  unsubscribeHeaders,
  withFooter,
  withOwnLinks,
} from './marketing-parts.js'
export { type CountedReason, countedReasons, whyLeft } from './reason.js'
export { sampleCopy, sampleFooter } from './sample-footer.js'
