import { counted } from '../amounts/index.js'
import type { JobResult } from '../calendar/index.js'
import { dayMs } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { Read } from '../store/index.js'

// An operator reads them; the job says how many more there are.
const mostTold = 100

/**
 * Keys that should be replaced: API keys that expire soon or that nobody uses, and old DKIM keys. Each problem
 * has the commands that mend it, with ids and domains alone, as names that others chose must not be pasted.
 */
export async function remindOfKeys(
  read: Read,
  settings: Config['keys'],
  now: number,
): Promise<JobResult> {
  const expiring = await expiringKeys(read, now, now + settings.remindExpiring)
  const unused = await unusedKeys(read, now, now - settings.remindUnused)
  const old = await oldDkimKeys(read, now - settings.remindDkim)
  const problems = [
    ...expiring.map(({ id, account_id, expires_at }) => {
      const left = daysIn((expires_at ?? now) - now)
      return `API key ${id} of account ${account_id} expires in ${left}: make another ('posthorn key create <name> --account ${account_id}') and give it to the program that uses this one`
    }),
    ...unused.map(({ id, account_id, last_used_at }) => {
      const since =
        last_used_at === null ? 'was never used' : `is unused for ${daysIn(now - last_used_at)}`
      return `API key ${id} of account ${account_id} ${since}: if no program has it, 'posthorn key delete ${id} --account ${account_id}'`
    }),
    ...old.map(({ name, account_id, created_at }) => {
      const days = daysIn(now - created_at)
      return `The DKIM keys of ${name} are ${days} old: 'posthorn domain rotate ${name} --account ${account_id}' makes new ones beside them, and shows the records to publish`
    }),
  ]
  const figures = { expiring: expiring.length, unused: unused.length, oldDkim: old.length }
  const more = problems.length - mostTold
  const told = problems.slice(0, mostTold)
  if (more > 0)
    told.push(
      `${counted(more, 'more key is', 'more keys are')} to be looked at; see to these first`,
    )
  const summary =
    problems.length === 0
      ? 'No key has to be replaced'
      : `API keys that expire soon: ${expiring.length}, that are not used: ${unused.length}; domains with old DKIM keys: ${old.length}`
  return { summary, problems: told, figures }
}

/** Keys that have not expired: nobody needs a reminder of an expired one. */
const liveKeys = (read: Read, now: number) =>
  read
    .selectFrom('api_keys')
    .select(['id', 'account_id', 'expires_at', 'last_used_at'])
    .where('deleted_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .orderBy('id')

const expiringKeys = (read: Read, now: number, before: number) =>
  liveKeys(read, now).where('expires_at', '<', before).execute()

/** Only keys that already existed at that time. */
const unusedKeys = (read: Read, now: number, since: number) =>
  liveKeys(read, now)
    .where('created_at', '<', since)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', since)]))
    .execute()

/** The domains whose oldest signing key was made earlier. */
const oldDkimKeys = (read: Read, before: number) =>
  read
    .selectFrom('dkim_keys')
    .innerJoin('domains', 'domains.id', 'dkim_keys.domain_id')
    .select(['domains.name', 'domains.account_id'])
    .select(({ fn }) => fn.min('dkim_keys.created_at').as('created_at'))
    .where('dkim_keys.verified', '=', 1)
    .where('dkim_keys.created_at', '<', before)
    // Not domains whose keys are already being replaced.
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('dkim_keys as next')
            .select('next.id')
            .whereRef('next.domain_id', '=', 'domains.id')
            .where('next.stage', '=', 'next'),
        ),
      ),
    )
    .groupBy('domains.id')
    .orderBy('domains.name')
    .execute()

const daysIn = (ms: number) => {
  const days = Math.max(0, Math.floor(ms / dayMs))
  return counted(days, 'day')
}
