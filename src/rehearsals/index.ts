/**
 * Rehearsals: a campaign that has not been sent, let leave in a clock of its own with today's shaping, warm-up, brakes, what was
 * learned and what waits. What must hold: nothing is written and nobody is mailed; what decides is the code that decides for
 * mail; a million recipients take no longer than a second or two, in slices between which others have their turn.
 */
export { type Rehearsal, type RehearsalDeps, rehearse } from './rehearse.js'
