import { maybe, orNull, queryWhole, type Schema, schemasOf, text, words } from '../fields/index.js'
import { type RefusalExample, refusal } from './refusal.js'

/** The errors of every operation that adds something to an account. */
export const accountRefusals: RefusalExample[] = [
  refusal(
    'account_suspended',
    'The operator has suspended the account',
    'The account is suspended; contact the operator',
  ),
  refusal(
    'subscription_expired',
    'The subscription has ended',
    'The subscription has ended; renew it to go on',
  ),
]

/** For a client's own data, at a path such as `metadata.order`. */
export const inexactNumber = (path: string) =>
  refusal(
    'validation_error',
    'A number in it that JSON readers change',
    `${path}: numbers beyond ${Number.MAX_SAFE_INTEGER} (2^53 - 1) lose digits in JSON; send it as text, in quotes`,
    { status: 422 },
  )

/** The error of operations that also stop when a renewal has failed; mail still leaves then. */
export const pastDue = refusal(
  'subscription_past_due',
  'The renewal failed',
  'The renewal failed: nothing can be added until it is paid; sending goes on',
)

/** The error of operations that add one more of a kind; `has` names what the account has too many of. */
export const ceiling = (has: string, setting: string) =>
  refusal(
    'plan_limit_exceeded',
    'The account has as many as it may',
    `The account has ${has}, and may have no more; the operator can raise ceilings.${setting}`,
  )

/** The error of operations that store files, templates or campaigns. */
export const storageFull = refusal(
  'plan_limit_exceeded',
  'The account would store more than its plan allows',
  'The account stores 1023 MiB of files, templates and campaigns; the plan Free allows 1.0 GiB, and 2 MiB more would be too much. Delete templates, wait until older mails go, or ask the operator for a larger plan',
)

/** How many items a page has where a request does not say. */
export const usualPage = 100

/**
 * The parameters of every list that comes in pages. The arguments change the usual and the greatest number of items.
 */
export const pageParams = (usual = usualPage, most = 500) => ({
  limit: maybe(queryWhole(1, most, 'How many items a page has at most', usual)),
  cursor: maybe(words('The `nextCursor` of the page before; absent for the first page')),
})

export const pageQuery = schemasOf(pageParams())

/**
 * Cursors instead of page numbers: mails are added at the front of a list while somebody reads it,
 * and a number would then show some twice and others never.
 */
export const pageFields: Record<string, Schema> = {
  hasMore: { type: 'boolean', description: 'Whether there is another page' },
  nextCursor: orNull(text('The `cursor` of the next page; null on the last page')),
}

/**
 * A cursor is bound to its list and filters by a tag (`store/cursor.ts`), so that a cursor of
 * another account reveals nothing about that account.
 */
export const foreignCursor = refusal(
  'validation_error',
  'The cursor is not of this list',
  'The cursor does not belong to this list',
)
