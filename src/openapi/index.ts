/**
 * The API's description for machines (OpenAPI 3.1), from which `dashboard/reference` makes the pages for people. A
 * domain's `contract.ts` says what its operations take and answer; a route's own facts (key, JSON body, limits) and
 * the error catalogue are read from their sources, never written twice. A new domain is one more contract in the list
 * of `openapi/contract.ts`, which keys and the audit log use too. Must hold: every `/v1` route has a description and
 * every description a route, or the appliance does not start; every response in the contract tests fits the document,
 * which `test/support` checks.
 */
export { makeClientTypes } from './client-types.js'
export { type Document, makeDocument } from './document.js'
