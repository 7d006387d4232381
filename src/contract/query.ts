import { type Struct, type as structWith } from 'superstruct'
import { type Fields, noOthers, structsOf } from '../fields/index.js'
import { nearestOf } from '../toml/index.js'

/**
 * The operations of `interface.md`. Their requests may have parameters that this release does not know: the contract
 * never said that those are refused, so newer clients work with older servers. All other operations are ours, and
 * refuse them.
 */
const promised: ReadonlySet<string> = new Set([
  'POST /v1/emails/send',
  'POST /v1/emails/batch',
  'POST /v1/emails/ussd',
  'GET /v1/emails/:id',
  'DELETE /v1/emails/:id/cancel',
  'GET /v1/billing/plans',
  'POST /v1/broadcasts/preview',
  'POST /v1/broadcasts/test',
  'POST /v1/broadcasts',
  'GET /v1/broadcasts',
  'GET /v1/broadcasts/:id',
  'POST /v1/broadcasts/:id/cancel',
  'GET /v1/broadcasts/plan/usage',
  'GET /v1/contacts/lists',
  'POST /v1/contacts/lists',
  'DELETE /v1/contacts/lists/:id',
  'POST /v1/contacts/:listId/import',
  'POST /v1/contacts/:listId',
  'GET /v1/contacts/:listId',
  'DELETE /v1/contacts/:listId/:contactId',
  'GET /v1/topics',
  'POST /v1/topics',
  'PATCH /v1/topics/:id',
  'DELETE /v1/topics/:id',
  'GET /v1/topics/:id/opt-outs',
  'POST /v1/events/send',
  'POST /v1/automations',
  'GET /v1/automations',
  'GET /v1/automations/:id',
  'PATCH /v1/automations/:id',
  'POST /v1/automations/:id/enable',
  'POST /v1/automations/:id/disable',
  'POST /v1/automations/:id/archive',
  'GET /v1/automations/:id/runs',
  'POST /v1/automations/runs/:id/cancel',
])

/**
 * Whether an operation ignores parameters that it does not know. Browsers add what they like to paths that need no key.
 */
export const takesOthers = (route: string, may: string): boolean =>
  may === 'public' || promised.has(route)

/**
 * Checks a query that may have these parameters alone: a misspelt filter, such as `?statsu=sent`, would list
 * everything.
 */
export const onlyThese = (query: Fields): Struct<Record<string, unknown>, never> =>
  noOthers(structWith(structsOf(query)), (name, names) => {
    if (names.length === 0) return 'This request has no parameters'
    const near = nearestOf(name, names)
    const meant = near === undefined ? '' : `, is ${near} meant?`
    return `There is no parameter of this name${meant || '.'} Known: ${names.join(', ')}`
  }) as unknown as Struct<Record<string, unknown>, never>
