/**
 * Past campaigns in browsers. A signed link shows each recipient their own copy; a public page with a feed shows
 * campaigns to everybody. What must hold: only campaigns whose account wants that are shown; nothing of any contact is
 * on a public page; a GET changes nothing; strangers cause bounded work. `routes.ts` has the pages.
 */

export { archiveWords } from './words.js'
