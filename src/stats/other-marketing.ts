import { dayNumber } from '../clock/index.js'
import { isTestId, type Read, type Tx } from '../store/index.js'
import { addFigures, noCounts } from './add-figures.js'

/**
 * How many marketing mails outside of campaigns an account has sent on each of some days (UTC, since 1970; `to` is
 * the last one): those of its automations and applications, without the tests that `noteCampaignTest` has noted. Days
 * without any are not in the map.
 */
export async function otherMarketing(
  read: Read,
  accountId: string,
  { from, to }: { from: number; to: number },
): Promise<ReadonlyMap<number, number>> {
  const rows = await read
    .selectFrom('figures')
    .select(['day', 'breakdown', ({ fn }) => fn.sum<number>('mails').as('mails')])
    .where('account_id', '=', accountId)
    .where('breakdown', 'in', ['broadcast', 'campaign-test'])
    .where('day', '>=', from)
    .where('day', '<=', to)
    .where('type', '=', 'marketing')
    .where('key', '=', '')
    .groupBy(['day', 'breakdown'])
    .execute()
  const days = new Map<number, number>()
  for (const { day, breakdown, mails } of rows) {
    const counted = breakdown === 'campaign-test' ? -mails : mails
    days.set(day, (days.get(day) ?? 0) + counted)
  }
  // A test is noted at once, and counted among the mails some seconds later.
  return new Map([...days].filter(([, mails]) => mails > 0))
}

/**
 * Notes in the mail's transaction that it was the test of a campaign, which belongs to no campaign and still must not
 * count as other marketing mail.
 */
export async function noteCampaignTest(
  tx: Tx,
  { accountId, emailId, at }: { accountId: string; emailId: string; at: number },
): Promise<void> {
  // Mail of a test key is counted apart.
  if (isTestId(emailId)) return
  const place = { breakdown: 'campaign-test', domain: '', type: 'marketing', key: '' } as const
  const one = { account_id: accountId, day: dayNumber(at), ...place, ...noCounts() }
  await addFigures(tx, [Object.assign(one, { mails: 1 })])
}
