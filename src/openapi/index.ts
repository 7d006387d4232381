/**
 * The API's description for machines (OpenAPI 3.1), from which `dashboard/reference` makes the pages for people.
 * One file a domain says what its endpoints take and answer; what a route itself tells (key, JSON
 * body, limits) and the error catalogue are read from where they are, never written twice.
 * A new domain is one more file like `billing.ts`, named in the list at the top of `document.ts`.
 * Must hold: every `/v1` route has its description and the other way round, or the appliance does not
 * start; every response in the contract tests fits the document, which `test/support` checks.
 */
export { makeClientTypes } from './client-types.js'
export { type Document, makeDocument } from './document.js'
