import { counted } from '../amounts/index.js'
import { ApiError } from '../errors/index.js'
import { firstSerialAt, idsIn, type Read } from '../store/index.js'
import { type Domain, type DomainDeps, findDomain } from './domain.js'

// How many rows of the queue are looked at together: that takes some milliseconds.
const rowsAtOnce = 1_000
// A delivery gets its number some time before its commit.
const slackMs = 600_000

/**
 * Removes a domain and its keys. Refused while mail of it waits, or a campaign is not finished, since that mail could
 * then not be signed. The queue is looked through before the write; the write looks only at what was accepted
 * meanwhile. Whoever accepts or makes mail asks in its own write whether the domain is still there.
 */
export async function deleteDomain(
  { store, clock }: DomainDeps,
  accountId: string,
  name: string,
): Promise<void> {
  const domain = await findDomain(store.read, accountId, name)
  const lookedAt = clock.now()
  await refuseWaiting(store.read, domain, 0)
  await store.write(async (tx) => {
    await refuseCampaigns(tx, accountId, domain)
    await refuseWaiting(tx, domain, firstSerialAt(lookedAt - slackMs))
    await tx.deleteFrom('domains').where('id', '=', domain.id).execute()
  })
}

/** Throws what `deleteDomain` would; for callers that ask beforehand. */
export async function refuseDomainInUse(
  read: Read,
  accountId: string,
  domain: Domain,
): Promise<void> {
  await refuseCampaigns(read, accountId, domain)
  await refuseWaiting(read, domain, 0)
}

/** Looks at the account's campaigns, of which there are few, and not at its mails. */
async function refuseCampaigns(read: Read, accountId: string, { id, name }: Domain): Promise<void> {
  const [campaign] = await unfinishedOf(read, accountId, id).execute()
  if (campaign === undefined) return
  throw new ApiError(
    'conflict',
    `${name} cannot be deleted: campaign ${campaign.id} is ${campaign.status} and sends from it`,
    { fields: { broadcastId: campaign.id } },
  )
}

/** A campaign that still sends, or will; exported so that a test can look at its query plan. */
export const unfinishedOf = (read: Read, accountId: string, domainId: string) =>
  read
    .selectFrom('broadcasts')
    .select(['id', 'status'])
    .where('account_id', '=', accountId)
    .where('domain_id', '=', domainId)
    .where('status', 'in', ['scheduled', 'sending', 'paused'])
    .limit(1)

/** Counts the deliveries from the number `from` on: a slice of the queue, then its mails. */
async function refuseWaiting(read: Read, { id, name }: Domain, from: number): Promise<void> {
  let count = 0
  for (let after = from - 1; ; ) {
    const rows = await waitingAfter(read, after).execute()
    const mails = await mailsFrom(
      read,
      id,
      rows.map(({ email_id }) => email_id),
    ).execute()
    const theirs = new Set(mails.map((mail) => mail.id))
    count += rows.filter(({ email_id }) => theirs.has(email_id)).length
    const last = rows.at(-1)
    if (last === undefined || rows.length < rowsAtOnce) break
    after = last.id
  }
  if (count === 0) return
  const waiting = counted(count, 'delivery from it is', 'deliveries from it are')
  throw new ApiError('conflict', `${name} cannot be deleted: ${waiting} waiting`)
}

/** A slice of the queue by its key; exported so that a test can look at its query plan. */
export const waitingAfter = (read: Read, id: number) =>
  read
    .selectFrom('queue')
    .select(['id', 'email_id'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(rowsAtOnce)

/** Which of these mails are the domain's; exported so that a test can look at its query plan. */
export const mailsFrom = (read: Read, domainId: string, emailIds: readonly string[]) =>
  read
    .selectFrom('emails')
    .select('id')
    .where('id', 'in', idsIn([...new Set(emailIds)], 'text'))
    .where('domain_id', '=', domainId)
