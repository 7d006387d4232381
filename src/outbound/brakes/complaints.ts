import { dayNumber } from '../../clock/index.js'
import type { Read, Tx } from '../../store/index.js'
import type { Policy, SiteName } from '../shaping/index.js'
import { addToDays, type SiteUsual, usualDays, usualOf } from './days.js'
import type { Over } from './next-brake.js'

// A screenful at a time: complaints are few, and the rest is taken in the next minute.
const mostTaken = 200

/**
 * Counts the complaints that `protection/` has noted by host at the sites of these hosts; resolves with those sites.
 */
export async function takeComplaints(
  tx: Tx,
  siteOf: (host: string, domain: string) => SiteName,
  now: number,
): Promise<SiteName[]> {
  const noted = await tx
    .selectFrom('host_complaints')
    .selectAll()
    .orderBy('host')
    .orderBy('domain')
    .limit(mostTaken)
    .execute()
  const sites = new Map<string, SiteName>()
  for (const { host, domain, complained } of noted) {
    const site = siteOf(host.toLowerCase(), domain)
    sites.set(site.key, site)
    const none = { tried: 0, delivered: 0, deferred: 0, blocked: 0, busyMs: 0 }
    await addToDays(tx, [{ site: site.key, source: '', complained, ...none }], now)
    await tx
      .deleteFrom('host_complaints')
      .where('host', '=', host)
      .where('domain', '=', domain)
      .execute()
  }
  return [...sites.values()]
}

// Two complaints are no climb, however large their share of a few mails is.
const leastComplaints = 3
const leastDelivered = 200
// Complaints come for days after their mail.
const lookedAtDays = 2

/** Whether complaints of the last two days climbed over what the site usually has. */
export async function complainedOver(
  read: Read,
  site: string,
  policy: Pick<Policy, 'brakeComplaints' | 'brakeTimes'>,
  now: number,
): Promise<Over | undefined> {
  const today = dayNumber(now)
  const from = today - lookedAtDays + 1
  const lately = await usualOf(read, { site }, { from, to: today })
  if (lately.complained < leastComplaints || lately.delivered < leastDelivered) return undefined
  const usual = await usualOf(read, { site }, { from: from - usualDays, to: from - 1 })
  const share = complaintsOf(lately)
  const bar = Math.max(policy.brakeComplaints / 1_000, policy.brakeTimes * complaintsOf(usual))
  if (share < bar) return undefined
  const of1000 = (part: number) => Number((part * 1_000).toFixed(1))
  const why = `${lately.complained} of ${lately.delivered} recipients complained in ${lookedAtDays} days, where ${of1000(complaintsOf(usual))} of 1,000 usually do`
  return { cause: 'complained', why, perMinute: 0 }
}

const complaintsOf = ({ complained, delivered }: SiteUsual) =>
  delivered === 0 ? 0 : complained / delivered
