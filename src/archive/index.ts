/**
 * Past campaigns in browsers: to each recipient theirs, behind a signed link, and to everybody a public page with a feed. What
 * must hold: only campaigns whose account wants that are shown; nothing of any contact is on a public page; a GET changes
 * nothing; strangers cause bounded work. `routes.ts` has the pages.
 */

export { archiveWords } from './words.js'
