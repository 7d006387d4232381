import type { Read } from '../store/index.js'

/**
 * How many marketing mails an account has sent on each of some days (of UTC, since 1970; `to` is the last one) that are of no
 * campaign: those of its automations and applications. Days without any are not in the map.
 */
export async function otherMarketing(
  read: Read,
  accountId: string,
  { from, to }: { from: number; to: number },
): Promise<ReadonlyMap<number, number>> {
  const rows = await read
    .selectFrom('figures')
    .select(['day', ({ fn }) => fn.sum<number>('mails').as('mails')])
    .where('account_id', '=', accountId)
    .where('breakdown', '=', 'broadcast')
    .where('day', '>=', from)
    .where('day', '<=', to)
    .where('type', '=', 'marketing')
    .where('key', '=', '')
    .groupBy('day')
    .execute()
  return new Map(rows.map(({ day, mails }) => [day, mails]))
}
