import { openArchive } from '../accounts/index.js'
import {
  type AccountBilling,
  checkSending,
  refuseBeyondStorage,
  refuseCampaignMails,
} from '../billing/index.js'
import type { BlockDocument } from '../blocks/index.js'
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
} from '../emails/index.js'
import type { MailTag, Tx } from '../store/index.js'
import { findTopic } from '../topics/index.js'
import { reachableNow } from './audience.js'
import { type Broadcast, type BroadcastDeps, findBroadcast } from './broadcast.js'
import { type ContentInput, checkContent, contentOf, isUnwritten } from './content.js'
import { countAudience } from './count-audience.js'
import { begin } from './dispatch-campaign.js'
import { gathering } from './gathered.js'
import { contentWarnings } from './known-tags.js'
import { firstTime } from './own-time.js'
import { hoursToCome, paceIn, type SendWindow, untilHours, withoutTime } from './pace.js'
import {
  bytesOfVariants,
  type CheckedVariants,
  putVariants,
  type UnfinishedVersions,
  type VariantsInput,
  variantsIn,
} from './put-variants.js'
import { checkStanding } from './standing.js'
import { segmentsWaitedFor } from './up-to-date.js'
import { refuseSmallTest } from './variant.js'
import { requireWhom, type Whom, type WhomInput, whomColumns, whomIn } from './whom.js'

/** Has either `listId` or `audience`. */
export interface BroadcastInput extends WhomInput, ContentInput, VariantsInput {
  /** `a@b` or `Name <a@b>`. */
  from: string
  /** In Liquid, as the HTML is. */
  subject: string
  /** In Liquid; inboxes show it beside the subject. */
  previewText?: string | undefined
  topicId?: string | undefined
  name?: string | undefined
  replyTo?: string | string[] | undefined
  headers?: Record<string, string> | undefined
  tags?: MailTag[] | undefined
  scheduledAt?: string | undefined
  /** The most mails an hour. */
  rate?: number | 'none' | undefined
  /** The hours in which it may leave. */
  window?: SendWindow | 'none' | undefined
  /** The zone of `scheduledAt` if each recipient gets it when their own clock shows that time; empty: all at once. */
  localTimeOf?: string | undefined
  attachments?: readonly unknown[] | undefined
  /** Whether everybody may see the campaign later. */
  archive?: boolean | undefined
}

/** A campaign that passed all checks. */
export interface CheckedBroadcast {
  domainId: string
  scheduledAt: number | undefined
  pace: Pick<Broadcast, 'rate' | 'send_window' | 'local_zone'>
  topicId: string | null
  whom: Whom
  html: string
  blocks: BlockDocument | null
  /** Undefined where the request does not mention versions. */
  variants: CheckedVariants | undefined
}

/**
 * Makes a campaign, and dispatches it unless it is scheduled or a draft. Throws what the contract says: 402 without a
 * marketing plan or beyond its cap, 400 for the sender, the time, and when nobody is reachable, 404 for list and topic,
 * 422 for a content that does not render. `alongside` is written in the same transaction.
 */
export async function createBroadcast(
  deps: BroadcastDeps & Pick<EmailDeps, 'attachments'>,
  billing: AccountBilling,
  input: BroadcastInput,
  { draft = false, alongside = async () => {}, unfinished, unfinishedVersions }: CreateOptions = {},
): Promise<Broadcast> {
  const { store, clock } = deps
  const { accountId } = billing
  const now = clock.now()
  const checked = await checkBroadcast(deps, billing, input, { draft })
  const { domainId, topicId, whom, html, blocks, variants } = checked
  // A campaign must not begin before its segments are up to date: until then it is scheduled for now.
  const waitsFor = draft ? undefined : await segmentsWaitedFor(deps, accountId, { whom, at: now })
  const { local_zone: zone } = checked.pace
  // Nor may it begin before its hours.
  const opens = draft ? undefined : hoursToCome(checked.pace, checked.scheduledAt ?? now)
  const isAwaited = waitsFor !== undefined || opens !== undefined
  const scheduledAt = checked.scheduledAt ?? (isAwaited ? now : null)
  const begins = scheduledAt === null ? null : firstTime(scheduledAt, zone)
  const whole = { accountId, whom, topicId }
  // A draft may be made before its list is filled, or a month early; sending it checks again.
  const isLater = draft || waitsFor !== undefined
  const counts = await (isLater ? countAudience : reachableNow)(store.read, whole)
  const audience = counts.reachable
  // The mails count in the month of the dispatch.
  if (!draft) await refuseCampaignMails(store.read, billing, audience, scheduledAt ?? now)
  if (!draft) refuseSmallTest(variants?.test ?? undefined, variants?.rows.length ?? 0, audience)
  const reader = makeAttachmentReader(deps, accountId)
  const carried = await reader.take(reader.check(input.attachments))
  await refuseContent(deps, billing, html, { carried, variants })
  const id = store.ids.uuid()
  const bodyId = store.ids.serial()
  const atOnce = !draft && (begins === null || (begins <= now && !isAwaited))
  const warnings = await contentWarnings(store.read, accountId, { ...input, html, blocks })
  const extras = extrasOf(input, { warnings })
  const made = await store.write(async (tx) => {
    // Whoever composes the mail makes the text part from the HTML, with its tags in it.
    const attachments = await putAttachments(tx, store, accountId, carried)
    const body = { id: bodyId, html, text: null, attachments }
    await tx.insertInto('bodies').values(body).execute()
    await addStoredBytes(tx, accountId, 'campaigns', Buffer.byteLength(html))
    await tx
      .insertInto('broadcasts')
      .values({
        id,
        account_id: accountId,
        ...whomColumns(whom),
        counts: JSON.stringify(counts),
        preview_text: input.previewText || null,
        blocks: blocks && JSON.stringify(blocks),
        unfinished: unfinished ?? null,
        notice_reason: null,
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
        ...checked.pace,
        next_at: draft || zone === null ? null : begins,
        ...(opens !== undefined && untilHours(opens)),
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
        variant_test: variants?.test ? JSON.stringify(variants.test) : null,
        archive: input.archive ? 1 : 0,
      })
      .execute()
    if (input.archive) await openArchive(tx, accountId)
    if (variants?.test) {
      await putVariants(tx, store, { id, accountId }, variants, unfinishedVersions)
    }
    const standing = await checkStanding(tx, deps, await findBroadcast(tx, accountId, id), {
      draft,
    })
    if (atOnce) await begin(tx, standing, id, { counts, now })
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
  {
    carried,
    variants,
  }: { carried: readonly NewAttachment[]; variants?: CheckedVariants | undefined },
): Promise<void> {
  const contents = carried.map(({ content }) => content)
  const files = await bytesToStore(read, billing.accountId, contents)
  await refuseBeyondStorage(
    read,
    billing,
    files + Buffer.byteLength(html) + bytesOfVariants(variants),
  )
}

interface CreateOptions {
  draft?: boolean
  alongside?: ((tx: Tx, made: Broadcast) => Promise<void>) | undefined
  /** The unfinished blocks of the draft's page (`unfinished` of its row). */
  unfinished?: string | undefined
  /** The unfinished blocks of its versions. */
  unfinishedVersions?: UnfinishedVersions | undefined
}

/** Throws what `checkBroadcast` finds in a draft's sender and content, all at once. */
export async function judgeContent(
  deps: Pick<BroadcastDeps, 'store' | 'renderer'>,
  accountId: string,
  {
    from,
    subject,
    previewText,
    ...given
  }: Pick<BroadcastInput, 'from' | 'subject' | 'previewText'> & ContentInput,
): Promise<void> {
  const all = gathering()
  if (from.trim() !== '') {
    await all.of('from', () => verifiedSender(deps.store.read, accountId, from))
  }
  const content = await all.of('html', () =>
    contentOf(deps, accountId, given, { mayBeEmpty: true }),
  )
  const written = { subject, previewText, html: '', ...content }
  if (content !== undefined && !isUnwritten(written)) {
    await all.of('html', () => checkContent(deps.renderer, accountId, written))
  }
  all.refuse()
}

interface CheckOptions {
  draft?: boolean
  /** A test, which goes to nobody of the audience. */
  toNobody?: boolean
  /** The audience before a change. */
  before?: Whom | undefined
}

/**
 * Every check of a campaign that needs no search for people; a test send makes the same checks. A draft may have no
 * audience, subject or content yet.
 */
export async function checkBroadcast(
  deps: Pick<BroadcastDeps, 'store' | 'clock' | 'renderer'>,
  billing: AccountBilling,
  input: BroadcastInput,
  { draft = false, toNobody = false, before }: CheckOptions = {},
): Promise<CheckedBroadcast> {
  const { store, clock, renderer } = deps
  const { accountId } = billing
  checkSending(billing, 'marketing')
  const all = gathering()
  const scheduledAt = await all.of('scheduledAt', () =>
    parseScheduledAt(input.scheduledAt, clock.now(), Number.POSITIVE_INFINITY),
  )
  const sender = await all.of('from', () => verifiedSender(store.read, accountId, input.from))
  const topicId = input.topicId?.toLowerCase() ?? null
  await all.of('topicId', () =>
    topicId === null ? undefined : findTopic(store.read, accountId, topicId),
  )
  const pace = await all.of('window', () => paceIn(input))
  const lacksTime = pace !== undefined && pace.local_zone !== null && !input.scheduledAt && !draft
  await all.of('scheduledAt', () => {
    if (lacksTime) throw withoutTime()
  })
  const whom = await all.of('lists', () => whomIn(input))
  const mayBeEmpty = draft || toNobody
  if (whom !== undefined) {
    await all.of('lists', () =>
      requireWhom(store.read, accountId, whom, { mayBeEmpty, except: before }),
    )
  }
  await all.of('headers', () => checkHeaders(input.headers))
  // A draft may have no subject or content yet; sending it asks for them.
  const content = await all.of('html', () =>
    contentOf(deps, accountId, input, { mayBeEmpty: draft }),
  )
  const written = { ...input, html: '', blocks: null, ...content }
  if (content !== undefined && (!draft || !isUnwritten(written))) {
    await all.of('html', () => checkContent(renderer, accountId, written))
  }
  const variants = await all.of('variants', () => variantsIn(deps, accountId, input, written))
  all.refuse()
  // An undefined value was refused.
  if (sender === undefined || pace === undefined || whom === undefined || content === undefined) {
    throw new Error('A check of a campaign has neither an answer nor a fault')
  }
  const { domainId } = sender
  return { domainId, scheduledAt, pace, topicId, whom, ...content, variants }
}
