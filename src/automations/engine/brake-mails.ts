import { addMails, type Plans, readBilling } from '../../billing/index.js'
import { hourMs } from '../../clock/index.js'
import { neverMailed } from '../../emails/index.js'
import type { Mailbox } from '../../mime/index.js'
import type { Ids, Tx } from '../../store/index.js'
import {
  brakeSurge,
  type HeldMail,
  type SeenOfHour,
  type SurgeSettings,
} from '../../surges/index.js'

/** What telling a surge needs. */
export interface BrakeDeps {
  ids: Pick<Ids, 'uuid'>
  plans: Plans
  surges: SurgeSettings
  /** What is known of each account's hour. */
  hours: Map<string, SeenOfHour>
}

/**
 * Counts transactional mails to these recipients in the account's hour, and tells whose mail must be held. With a
 * stolen key one could otherwise send events of strangers in place of mails.
 */
export async function brakeMails(
  tx: Tx,
  { ids, plans, surges, hours }: BrakeDeps,
  accountId: string,
  recipients: readonly Mailbox[],
  now: number,
): Promise<HeldMail | undefined> {
  if (recipients.length === 0) return undefined
  const at = now - (now % hourMs)
  const [hour] = await addMails(tx, [
    { holder: accountId, span: hourMs, at, mails: recipients.length },
  ])
  if (hour === undefined || surges.minimum === 0) return undefined
  // Read in this write, as a surge may have begun or ended since the runs were planned.
  const billing = await readBilling(tx, plans, accountId)
  const requests = [{ by: undefined, recipients: recipients.map((one) => [one]) }]
  const deps = { settings: surges, neverMailed, ids, remembered: hours }
  return await brakeSurge(tx, deps, { billing, hour, now, requests })
}
