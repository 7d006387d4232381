import { openArchive } from '../accounts/index.js'
import type { AccountBilling } from '../billing/index.js'
import { hourMs } from '../clock/index.js'
import { addStoredBytes, attachmentsOf, releaseContents } from '../contents/index.js'
import {
  type EmailDeps,
  extrasOf,
  makeAttachmentReader,
  type NewAttachment,
  putAttachments,
} from '../emails/index.js'
import { ApiError } from '../errors/index.js'
import type { Store, Tx } from '../store/index.js'
import { type Broadcast, type BroadcastDeps, findBroadcast } from './broadcast.js'
import { blocksOf } from './content.js'
import { countAudience } from './count-audience.js'
import { type BroadcastInput, checkBroadcast, refuseContent } from './create.js'
import { givenOf } from './given.js'
import { contentWarnings } from './known-tags.js'
import { mailTypeOf } from './notice.js'
import { hoursToCome, paceIn, paceOf, untilHours } from './pace.js'
import { putFilesOfVariants, putVariants, type UnfinishedVersions } from './put-variants.js'
import { onlyListOf, stillThere, whomColumns, whomOf } from './whom.js'

/** The changes of a draft. An empty `topicId`, `name` or `scheduledAt` removes it. */
export type BroadcastChanges = { [F in keyof BroadcastInput]?: BroadcastInput[F] | undefined }

/**
 * Changes a draft; what is not given stays. Throws what `createBroadcast` would for the changed draft, except that
 * nobody is reachable; a 409 for a campaign that is no draft (any more). `alongside` is written in the same
 * transaction.
 */
export async function changeDraft(
  deps: BroadcastDeps & Pick<EmailDeps, 'attachments'>,
  billing: AccountBilling,
  id: string,
  changes: BroadcastChanges,
  { alongside = async () => {}, revision, unfinished, unfinishedVersions }: ChangeOptions = {},
): Promise<Broadcast> {
  const { store, clock } = deps
  const { accountId } = billing
  if (isForLater(changes)) {
    const { status } = await findBroadcast(store.read, accountId, id)
    if (status !== 'draft') return await changeLater(deps, accountId, id, changes, alongside)
  }
  const { draft, html } = await draftWithHtml(store.read, accountId, id)
  if (revision !== undefined && revision !== draft.revision) {
    throw new ApiError('conflict', changedByOther)
  }
  if (draft.notice_reason !== null && changes.topicId) {
    throw new ApiError('conflict', 'A notice that everybody must get has no topic')
  }
  const input = withChanges(draft, html, changes)
  const isRewritten = changes.html !== undefined || Boolean(changes.blocks)
  const before = whomOf(draft)
  const checked = await checkBroadcast(deps, billing, input, { draft: true, before })
  const {
    domainId,
    topicId,
    scheduledAt = null,
    whom,
    html: written,
    blocks,
    pace,
    variants,
  } = checked
  const there = await stillThere(store.read, accountId, whom)
  const type = mailTypeOf(draft)
  const counts = await countAudience(store.read, { accountId, whom: there, topicId, type })
  const reader = makeAttachmentReader(deps, accountId)
  const carried = await reader.take(reader.check(changes.attachments))
  const said = { ...input, html: written, blocks: isRewritten ? blocks : blocksOf(draft) }
  const extras = extrasOf(input, { warnings: await contentWarnings(store.read, accountId, said) })
  await refuseContent(deps, billing, isRewritten ? written : '', { carried, variants })
  return await store.write(async (tx) => {
    const found = await draftWithHtml(tx, accountId, id)
    // If two people change a draft at once, one of them is told; neither change is lost silently.
    if (!isSame(found, { draft, html })) throw new ApiError('conflict', changedMeanwhile)
    const bodyId = await putBody(tx, {
      store,
      accountId,
      found,
      html: isRewritten ? written : undefined,
      changes,
      carried,
    })
    await tx
      .updateTable('broadcasts')
      .set({
        ...whomColumns(whom),
        counts: JSON.stringify(counts),
        preview_text: input.previewText || null,
        blocks: isRewritten ? blocks && JSON.stringify(blocks) : draft.blocks,
        unfinished: isRewritten ? (unfinished ?? null) : draft.unfinished,
        revision: draft.revision + 1,
        topic_id: topicId,
        name: input.name ?? null,
        domain_id: domainId,
        from_header: input.from.trim(),
        subject: input.subject,
        ...extras,
        audience: counts.reachable,
        body_id: bodyId,
        changed_at: clock.now(),
        scheduled_at: changes.scheduledAt === undefined ? draft.scheduled_at : scheduledAt,
        ...pace,
        archive: input.archive ? 1 : 0,
        ...(variants && { variant_test: variants.test && JSON.stringify(variants.test) }),
      })
      .where('id', '=', draft.id)
      .execute()
    if (input.archive) await openArchive(tx, accountId)
    if (variants)
      await putVariants(tx, store, { id: draft.id, accountId }, variants, unfinishedVersions)
    else if (changes.attachments !== undefined) await putFilesOfVariants(tx, store, draft.id)
    const changed = await findBroadcast(tx, accountId, id)
    await alongside(tx, changed)
    return changed
  })
}

interface ChangeOptions {
  alongside?: ((tx: Tx, changed: Broadcast) => Promise<void>) | undefined
  /** The revision that the changes are based on: a 409 where somebody else has changed the draft since. */
  revision?: number | undefined
  /** The unfinished blocks of the draft's page (`unfinished` of its row), for given blocks. */
  unfinished?: string | undefined
  /** The unfinished blocks of its versions, for those that are given. */
  unfinishedVersions?: UnfinishedVersions | undefined
}

interface BodyChange {
  store: Pick<Store, 'ids'>
  accountId: string
  found: DraftWithHtml
  /** Undefined where it stays. */
  html: string | undefined
  changes: BroadcastChanges
  carried: readonly NewAttachment[]
}

/** Bodies are never changed: a change makes another body, and the earlier one is deleted. */
async function putBody(
  tx: Tx,
  { store, accountId, found, html: written, changes, carried }: BodyChange,
): Promise<number> {
  const { body_id: before } = found.draft
  if (written === undefined && changes.attachments === undefined) return before
  const html = written ?? found.html
  const id = store.ids.serial()
  const keeps = changes.attachments === undefined
  const attachments = keeps
    ? found.attachments
    : await putAttachments(tx, store, accountId, carried)
  await tx.insertInto('bodies').values({ id, html, text: null, attachments }).execute()
  await tx.deleteFrom('bodies').where('id', '=', before).execute()
  const grown = Buffer.byteLength(html) - Buffer.byteLength(found.html)
  await addStoredBytes(tx, accountId, 'campaigns', grown)
  // The kept attachments' contents are used as often as before.
  const unused = keeps ? [] : (attachmentsOf(found.attachments) ?? [])
  await releaseContents(
    tx,
    unused.map(({ content }) => content),
  )
  return id
}

const changedByOther =
  'Somebody else has changed this draft since you opened it: open it again, then make your change'
const changedMeanwhile = 'The draft was changed at the same moment: read it again, then change it'

interface DraftWithHtml {
  draft: Broadcast
  html: string
  attachments: string | null
}

/** 409, since the draft existed and is a campaign now. */
async function draftWithHtml(read: Tx, accountId: string, id: string): Promise<DraftWithHtml> {
  const draft = await findBroadcast(read, accountId, id)
  if (draft.status !== 'draft') {
    const message = `Only a draft can be changed; this campaign is ${draft.status}${isUnderWay(draft) ? ', and only its rate and window can be' : ''}`
    throw new ApiError('conflict', message)
  }
  const { html, attachments } = await read
    .selectFrom('bodies')
    .select(['html', 'attachments'])
    .where('id', '=', draft.body_id)
    .executeTakeFirstOrThrow()
  return { draft, html: html ?? '', attachments }
}

const isSame = (a: Omit<DraftWithHtml, 'attachments'>, b: Omit<DraftWithHtml, 'attachments'>) =>
  a.html === b.html && JSON.stringify(a.draft) === JSON.stringify(b.draft)

/** Whether all of the changes are allowed after a campaign has left the state of a draft. */
const isForLater = (changes: BroadcastChanges) =>
  Object.entries(changes).every(
    ([name, value]) => value === undefined || ['rate', 'window', 'archive'].includes(name),
  )

const isUnderWay = ({ status }: Broadcast) =>
  status === 'scheduled' || status === 'sending' || status === 'paused'

/** When more may leave at another rate (ms): once the mails that are already made would have left at that rate. */
function pacedToAt({ rate, paced_to, waiting }: Broadcast, most: number | null, now: number) {
  if (most === null) return null
  const ahead = Math.max(0, (paced_to ?? now) - now)
  const made = rate === null ? waiting : (ahead * rate) / hourMs
  return Math.round(now + (made * hourMs) / most)
}

/** Changes what may be changed of a campaign that is no draft: how it leaves, and who may see it later. */
async function changeLater(
  { store, clock, expand }: BroadcastDeps,
  accountId: string,
  id: string,
  { archive, ...pace }: Pick<BroadcastChanges, 'rate' | 'window' | 'archive'>,
  alongside: (tx: Tx, changed: Broadcast) => Promise<void>,
): Promise<Broadcast> {
  const isPaced = pace.rate !== undefined || pace.window !== undefined
  const changed = await store.write(async (tx) => {
    const found = await findBroadcast(tx, accountId, id)
    if (isPaced) await changePace(tx, found, pace, clock.now())
    if (archive !== undefined) {
      if (archive) await openArchive(tx, accountId)
      const values = { archive: archive ? 1 : 0 } as const
      await tx.updateTable('broadcasts').set(values).where('id', '=', found.id).execute()
    }
    const after = await findBroadcast(tx, accountId, id)
    await alongside(tx, after)
    return after
  })
  if (isPaced) expand()
  return changed
}

/** Changes how a scheduled, sending or paused campaign leaves. Mails made for the next minute stay as they are. */
async function changePace(
  tx: Tx,
  found: Broadcast,
  changes: Pick<BroadcastChanges, 'rate' | 'window'>,
  now: number,
): Promise<void> {
  if (!isUnderWay(found)) {
    const message = `The rate of a campaign that is ${found.status} cannot be changed`
    throw new ApiError('conflict', message)
  }
  const { rate, window } = paceOf(found)
  const { rate: most, send_window } = paceIn({
    rate: changes.rate ?? rate ?? undefined,
    window: changes.window ?? window ?? undefined,
  })
  const local_zone = found.local_zone
  const opens = hoursToCome(
    { rate: most, send_window, local_zone },
    Math.max(found.scheduled_at ?? 0, now),
  )
  const { next_at, reason } =
    opens === undefined ? { next_at: null, reason: null } : untilHours(opens)
  const toCome = found.sent_at === null &&
    local_zone === null && {
      next_at,
      ...(found.status === 'scheduled' && { reason }),
    }
  const begun = found.sent_at !== null && {
    next_at: null,
    paced_to: pacedToAt(found, most, now),
    expanded_at: now,
    // The reason of a sending campaign says what it waits for.
    ...(found.status === 'sending' && { reason: null }),
  }
  await tx
    .updateTable('broadcasts')
    .set({ rate: most, send_window, ...begun, ...toCome })
    .where('id', '=', found.id)
    .execute()
}

/** The whole changed draft. Its time is included only where that changes, as a past time is no fault. */
function withChanges(draft: Broadcast, html: string, changes: BroadcastChanges): BroadcastInput {
  const before = {
    ...givenOf(draft),
    // HTML made from blocks is made again only from blocks.
    ...(changes.blocks ? {} : { html }),
    localTimeOf: draft.local_zone ?? undefined,
  }
  const given = Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  )
  const isTo = changes.listId !== undefined || changes.audience !== undefined
  const to = isTo ? {} : whomGiven(draft)
  const whole = { ...before, ...to, ...given } as BroadcastInput
  const { topicId, name, scheduledAt, previewText, ...after } = whole
  return {
    ...after,
    topicId: topicId || undefined,
    name: name || undefined,
    previewText: previewText || undefined,
    scheduledAt: scheduledAt || undefined,
  }
}

/** A draft's audience in the form of a request. */
function whomGiven(draft: Broadcast): Pick<BroadcastInput, 'listId' | 'audience'> {
  const whom = whomOf(draft)
  const listId = onlyListOf(whom)
  return listId === undefined ? { audience: whom } : { listId }
}
