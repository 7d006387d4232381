import { refuseCampaignMails } from '../billing/index.js'
import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import { refuseNobody } from './audience.js'
import { type Broadcast, type BroadcastDeps, findBroadcast } from './broadcast.js'
import { copiedSubjectMark, isUnwritten } from './content.js'
import { type AudienceCount, countAudience } from './count-audience.js'
import { refuseNotice } from './notice.js'
import { firstTime } from './own-time.js'
import { withoutTime } from './pace.js'
import { unfinishedVersionsOf } from './put-variants.js'
import { audienceOf, standingChecks } from './standing.js'
import { segmentsWaitedFor } from './up-to-date.js'
import { refuseSmallTest, variantsOf, variantTestOf } from './variant.js'

type JudgeDeps = Pick<BroadcastDeps, 'store' | 'clock' | 'plans'>

/** A draft that can be sent now, to how many, and whether it waits for its segments; throws what `sendDraft` would. */
export async function judgeDraft(
  deps: JudgeDeps,
  accountId: string,
  id: string,
): Promise<{ draft: Broadcast; counts: AudienceCount; waits: boolean }> {
  // The first refusal ends it: what is cheap is asked before people are counted.
  const { draft, counts, waits } = await look(deps, { accountId, id }, (refusal) => {
    throw refusal
  })
  if (counts === undefined) throw new Error('The audience of the draft was not counted')
  return { draft, counts, waits }
}

/** A draft as it would be sent now. */
interface DraftLook {
  draft: Broadcast
  /** All that prevents it, in the order in which programs are told of it. */
  refusals: ApiError[]
  /** Undefined where there is nobody to be counted: none is chosen, or a part of the audience is gone. */
  counts: AudienceCount | undefined
  /** It waits for its segments. */
  waits: boolean
}

/** Looks for everything that prevents sending a draft: nobody is to mend one thing to be told of the next. */
export async function lookAtDraft(
  deps: JudgeDeps,
  accountId: string,
  id: string,
): Promise<DraftLook> {
  const refusals: ApiError[] = []
  const looked = await look(deps, { accountId, id }, (refusal) => refusals.push(refusal))
  return { ...looked, refusals }
}

async function look(
  deps: JudgeDeps,
  { accountId, id }: { accountId: string; id: string },
  refuse: (refusal: ApiError) => void,
): Promise<Omit<DraftLook, 'refusals'>> {
  const { read } = deps.store
  const draft = await findBroadcast(read, accountId, id)
  refuseUnlessDraft(draft)
  const done = async <T>(check: () => Promise<T>): Promise<{ with: T } | undefined> => {
    try {
      return { with: await check() }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      refuse(error)
      return undefined
    }
  }
  const standing = standingChecks(deps, draft)
  const billing = await done(() => standing.billing(read))
  await done(() => standing.sender(read))
  await done(() => standing.topic(read))
  const isSomebody = (await done(() => standing.audience(read))) !== undefined
  await done(() => refuseUnfinished(read, draft))
  await done(() => refuseUnwritten(read, draft))
  const { scheduled_at: given, local_zone: zone } = draft
  if (zone !== null && given === null) refuse(withoutTime())
  const now = deps.clock.now()
  const at = Math.max(given === null ? 0 : firstTime(given, zone), now)
  // Who sends it is checked when it is sent.
  await done(() => refuseNotice(read, draft, { at }))
  const counted = isSomebody ? await done(() => countedNow(deps, draft, now)) : undefined
  const { counts, waits = false } = counted?.with ?? {}
  if (counts !== undefined) {
    if (!waits) await done(async () => refuseNobody(audienceOf(draft), counts))
    if (draft.variant_test !== null) await done(() => refuseTest(read, draft, counts.reachable))
    const leavesAt = Math.max(given ?? 0, now)
    if (billing !== undefined)
      await done(() => refuseCampaignMails(read, billing.with, counts.reachable, leavesAt))
  }
  return { draft, counts, waits }
}

async function countedNow(
  deps: JudgeDeps,
  draft: Broadcast,
  at: number,
): Promise<{ counts: AudienceCount; waits: boolean }> {
  const audience = audienceOf(draft)
  const { accountId, whom } = audience
  // A segment's members are not known before it is up to date, and the campaign waits for that.
  const waits = (await segmentsWaitedFor(deps, accountId, { whom, at })) !== undefined
  return { counts: await countAudience(deps.store.read, audience), waits }
}

/** A 400 where the audience is too small for the versions. */
async function refuseTest(read: Read, draft: Broadcast, audience: number): Promise<void> {
  const variants = await variantsOf(read, draft.id)
  refuseSmallTest(variantTestOf(draft), variants.length, audience)
}

/** Checked within the write too: a second click on "send" must not send twice. */
export function refuseUnlessDraft({ status }: Broadcast): void {
  if (status === 'draft') return
  throw new ApiError('conflict', `Only a draft can be sent; this campaign is ${status}`)
}

/** A 400 for a draft without subject or content, or with the subject with which it was copied. */
async function refuseUnwritten(read: Read, { subject, body_id }: Broadcast): Promise<void> {
  const { html } = await read
    .selectFrom('bodies')
    .select('html')
    .where('id', '=', body_id)
    .executeTakeFirstOrThrow()
  if (subject.startsWith(copiedSubjectMark)) {
    const message = `The subject still begins with ${copiedSubjectMark} write one for this campaign`
    throw new ApiError('validation_error', message)
  }
  if (!isUnwritten({ subject, html: html ?? '' })) return
  const message =
    subject.trim() === '' ? 'The campaign has no subject yet' : 'The campaign has no content yet'
  throw new ApiError('validation_error', message)
}

/** A 400 for a draft with unfinished blocks, its own or a version's: its stored content lacks them. */
async function refuseUnfinished(read: Read, draft: Broadcast): Promise<void> {
  const pages = [
    { whose: 'its blocks', unfinished: draft.unfinished },
    ...[...(await unfinishedVersionsOf(read, draft))].map(([key, unfinished]) => ({
      whose: `the blocks of version ${key}`,
      unfinished,
    })),
  ]
  for (const { whose, unfinished } of pages) {
    if (unfinished === null) continue
    const { names } = JSON.parse(unfinished) as { names: string[] }
    const message = `These of ${whose} are not finished: ${names.join(', ')}. Finish them where it is written, or take them out`
    throw new ApiError('validation_error', message)
  }
}
