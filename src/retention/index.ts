/**
 * How long everything is kept: mails with all their rows, bodies and transcripts for less time, and every
 * other log. What must hold: nothing is deleted of mail that waits, or that the figures have not counted;
 * figures, rates and counters are the same before and after; each write is short, and a kill at any moment
 * leaves either all of a mail or nothing. README.md has the age of every table.
 */
export { countBodies, countNextBodies } from './count-bodies.js'
export { keepDiskShare } from './disk.js'
export { type Outlook, readOutlook } from './outlook.js'
export { type RetentionResult, type RetentionRunDeps, retentionsOf, runRetention } from './run.js'
