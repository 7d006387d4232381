/**
 * A brake for each site: where deferrals, blocks or complaints climb over what the site usually has, campaign mail
 * alone slows down to a tenth, then waits, and comes back by itself in steps. What must hold: transactional and
 * automation mail goes on; no other site is slower; each step is a row that outlives any restart and that all threads
 * and nodes keep to; the brake ends by itself, whichever thread runs.
 */
export { type SiteUsual, usualOf, usualsSince } from './days.js'
export { makeBrakes } from './in-force.js'
export { type Brake, brakeInWords, nextBrake } from './next-brake.js'
export { endBrakes, openBrakes } from './site-brake.js'
export { watchBrakes } from './watch.js'
