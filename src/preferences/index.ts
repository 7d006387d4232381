/**
 * What recipients of marketing mail decide themselves: the signed link in each mail, its headers
 * and footer, and the page behind it. What must hold: a link acts for the one account, address and
 * topic that it was signed for, for ever; opening it changes nothing, only a POST does; a link that
 * was not made here tells nothing. `routes.ts` has the pages; the rest loads in mail threads too.
 */
export { type Footer, withFooter } from './footer.js'
export { unsubscribeHeaders } from './headers.js'
export { makeUnsubscribeLinks, type UnsubscribeLinks, type UnsubscribeTarget } from './link.js'
