import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import type { ContactSearch } from './filters.js'
import { countFitting } from './fitting.js'

/** How many matched when somebody looked, and who existed then: only these are changed when they agree. */
export interface SeenNumber {
  count: number
  /** False: more may have matched than were counted. */
  isAll: boolean
  /** The id of the newest contact at that time: times do not tell it once a clock was set back. */
  through: string
}

/** The number as it is now. */
export async function seeFitting(
  read: Read,
  accountId: string,
  search: ContactSearch,
  defaultCountry: string,
): Promise<SeenNumber> {
  const through = await newestOf(read, accountId)
  return { ...(await countFitting(read, accountId, search, defaultCountry, through)), through }
}

/**
 * Throws a 422 where the number would differ from the seen one. Later contacts are not counted, and are left alone: so
 * nobody has to wait for an import before deleting three other contacts.
 */
export async function refuseOther(
  read: Read,
  accountId: string,
  search: ContactSearch,
  defaultCountry: string,
  seen: SeenNumber,
): Promise<void> {
  const now = await countFitting(read, accountId, search, defaultCountry, seen.through)
  if (now.isAll === seen.isAll && (!now.isAll || now.count === seen.count)) return
  const [fit, fitted] = [now, seen].map(
    ({ count, isAll }) => `${isAll ? '' : 'more than '}${count.toLocaleString('en-GB')}`,
  )
  throw new ApiError(
    'validation_error',
    `Nothing is changed yet: ${fit} of those who were contacts then fit now, and not ${fitted}. Look at the number, then say it again`,
    { status: 422 },
  )
}

/** The newest of an account's contacts; an empty text where there is none. */
export async function newestOf(read: Read, accountId: string): Promise<string> {
  const newest = await read
    .selectFrom('contacts')
    .select('id')
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return newest?.id ?? ''
}
