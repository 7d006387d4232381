/**
 * Rehearsals: an unsent campaign runs on a clock of its own, with today's shaping, warm-up, brakes, learned figures and
 * waiting mail. What must hold: nothing is written and nobody is mailed; the deciding code is the one that decides for
 * mail; a million recipients take no longer than a second or two, in slices between which other work has its turn.
 */

export { rehearseInTurn } from './in-turn.js'
export { type Rehearsal, type RehearsalDeps, rehearse } from './rehearse.js'
