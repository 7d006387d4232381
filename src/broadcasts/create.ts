import {
  type AccountBilling,
  checkSending,
  refuseBeyondStorage,
  refuseCampaignMails,
} from '../billing/index.js'
import { requireList } from '../contacts/index.js'
import { addStoredBytes, bytesToStore } from '../contents/index.js'
import {
  checkHeaders,
  type EmailDeps,
  extrasOf,
  makeAttachmentReader,
  type NewAttachment,
  parseScheduledAt,
  putAttachments,
  verifiedSender,
  warningsAbout,
} from '../emails/index.js'
import type { MailTag, Tx } from '../store/index.js'
import { findTopic } from '../topics/index.js'
import { countAudience, reachableNow } from './audience.js'
import { type Broadcast, type BroadcastDeps, findBroadcast } from './broadcast.js'
import { checkContent } from './content.js'
import { begin, checkStanding } from './dispatch-campaign.js'

export interface BroadcastInput {
  listId: string
  /** `a@b` or `Name <a@b>`. */
  from: string
  /** Liquid, as is the HTML. */
  subject: string
  html: string
  topicId?: string | undefined
  name?: string | undefined
  replyTo?: string | string[] | undefined
  headers?: Record<string, string> | undefined
  tags?: MailTag[] | undefined
  scheduledAt?: string | undefined
  attachments?: readonly unknown[] | undefined
}

/** A campaign that nothing speaks against. */
export interface CheckedBroadcast {
  domainId: string
  scheduledAt: number | undefined
  topicId: string | null
}

/**
 * Makes a campaign, and dispatches it unless it is scheduled or a draft. Throws what the contract
 * says: 402 without a marketing plan or beyond its cap, 400 for the sender, the time, and when nobody
 * is reachable, 404 for list and topic, 422 for what does not render. `alongside` is written with it.
 */
export async function createBroadcast(
  deps: BroadcastDeps & Pick<EmailDeps, 'attachments'>,
  billing: AccountBilling,
  input: BroadcastInput,
  { draft = false, alongside = async () => {} }: CreateOptions = {},
): Promise<Broadcast> {
  const { store, clock } = deps
  const { accountId } = billing
  const { scheduledAt = null, domainId, topicId } = await checkBroadcast(deps, billing, input)
  const listId = input.listId.toLowerCase()
  const whom = { accountId, listId, topicId }
  // A draft may come before its list is filled, or the next month; its sending looks again.
  const audience = await (draft ? countAudience : reachableNow)(store.read, whom)
  const now = clock.now()
  // It is counted in the month in which it is dispatched.
  if (!draft) await refuseCampaignMails(store.read, billing, audience, scheduledAt ?? now)
  const reader = makeAttachmentReader(deps, accountId)
  const carried = await reader.take(reader.check(input.attachments))
  await refuseContent(deps, billing, input.html, carried)
  const id = store.ids.uuid()
  const bodyId = store.ids.serial()
  const atOnce = !draft && scheduledAt === null
  const extras = extrasOf(input, { warnings: warningsAbout({ html: input.html, text: null }) })
  const made = await store.write(async (tx) => {
    // The text part is made of the HTML, with its tags in it, by whoever composes.
    const attachments = await putAttachments(tx, store, accountId, carried)
    const body = { id: bodyId, html: input.html, text: null, attachments }
    await tx.insertInto('bodies').values(body).execute()
    await addStoredBytes(tx, accountId, 'campaigns', Buffer.byteLength(input.html))
    await tx
      .insertInto('broadcasts')
      .values({
        id,
        account_id: accountId,
        list_id: listId,
        topic_id: topicId,
        name: input.name ?? null,
        domain_id: domainId,
        from_header: input.from.trim(),
        ...extras,
        subject: input.subject,
        body_id: bodyId,
        status: draft ? 'draft' : 'scheduled',
        reason: null,
        paused_by: null,
        scheduled_at: scheduledAt,
        created_at: now,
        sent_at: null,
        ended_at: null,
        audience,
        cursor: '',
        expanded: 0,
        expanded_at: null,
        recipients: 0,
        waiting: 0,
        delivered: 0,
        relayed: 0,
        bounced: 0,
        failed: 0,
        suppressed: 0,
        cancelled: 0,
        opened: 0,
        clicked: 0,
      })
      .execute()
    const standing = await checkStanding(tx, deps, await findBroadcast(tx, accountId, id))
    if (atOnce) await begin(tx, standing, id, { audience, now })
    const broadcast = await findBroadcast(tx, accountId, id)
    await alongside(tx, broadcast)
    return broadcast
  })
  if (atOnce) deps.expand()
  return made
}

/** Throws a 403 where the account would store more than it may. */
export async function refuseContent(
  { store: { read } }: Pick<BroadcastDeps, 'store'>,
  billing: AccountBilling,
  html: string,
  carried: readonly NewAttachment[],
): Promise<void> {
  const contents = carried.map(({ content }) => content)
  const files = await bytesToStore(read, billing.accountId, contents)
  await refuseBeyondStorage(read, billing, files + Buffer.byteLength(html))
}

interface CreateOptions {
  draft?: boolean
  alongside?: (tx: Tx, made: Broadcast) => Promise<void>
}

/** Whatever can be refused of a campaign before anybody is looked for; a test send asks for the same. */
export async function checkBroadcast(
  deps: Pick<BroadcastDeps, 'store' | 'clock' | 'renderer'>,
  billing: AccountBilling,
  input: BroadcastInput,
): Promise<CheckedBroadcast> {
  const { store, clock, renderer } = deps
  const { accountId } = billing
  checkSending(billing, 'marketing')
  const scheduledAt = parseScheduledAt(input.scheduledAt, clock.now(), Number.POSITIVE_INFINITY)
  const { domainId } = await verifiedSender(store.read, accountId, input.from)
  const topicId = input.topicId?.toLowerCase() ?? null
  if (topicId !== null) await findTopic(store.read, accountId, topicId)
  await requireList(store.read, accountId, input.listId)
  checkHeaders(input.headers)
  await checkContent(renderer, accountId, input)
  return { domainId, scheduledAt, topicId }
}
