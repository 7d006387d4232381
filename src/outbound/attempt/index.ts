/*
 * Owns one attempt, start to end: by which way the mail goes, what the servers said, and what that means
 * for the mail. Every attempt ends in exactly one settlement, or says that it never began.
 */
export { type Attempted, type Attempts, makeAttempts } from './attempt.js'
