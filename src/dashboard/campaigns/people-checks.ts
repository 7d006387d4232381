import { counted } from '../../amounts/index.js'
import {
  type AudienceMember,
  type Broadcast,
  blocksOf,
  campaignsSince,
  mailedSince,
  nextOfAudience,
  oddTagsOf,
  whomOf,
} from '../../broadcasts/index.js'
import { dayMs } from '../../clock/index.js'
import type { Read } from '../../store/index.js'
import { isCopyTag, mergedValue, mergeValues, readDraft } from '../../templates/index.js'
import type { CampaignCheck } from './check.js'
import type { CampaignPageDeps } from './deps.js'
import { ofVersions, type SeenContent } from './version-checks.js'
import { campaignName, shown } from './words.js'

// Of an audience so many are looked at, the first ones.
const sampled = 200
const mostTags = 5

/** What is seen in the first people of an audience: tags without a value, and who got a campaign a day before. */
export async function peopleChecks(
  deps: Pick<CampaignPageDeps, 'store' | 'clock' | 'renderer'>,
  draft: Broadcast,
  contents: readonly SeenContent[],
): Promise<CampaignCheck[]> {
  const whom = { accountId: draft.account_id, whom: whomOf(draft), topicId: draft.topic_id }
  const { reachable } = await nextOfAudience(deps.store.read, whom, '', sampled)
  const tags: { key: string | undefined; checks: CampaignCheck[] }[] = []
  for (const one of contents) {
    tags.push({ key: one.key, checks: await tagChecks(deps, one, reachable) })
  }
  return [...ofVersions(tags), ...(await lateChecks(deps, draft, reachable, contents[0]?.mend))]
}

/** Who got another campaign within a day before this one leaves. */
async function lateChecks(
  { store: { read }, clock }: Pick<CampaignPageDeps, 'store' | 'clock'>,
  { account_id: accountId, scheduled_at }: Broadcast,
  members: readonly AudienceMember[],
  mend: CampaignCheck['mend'],
): Promise<CampaignCheck[]> {
  const since = Math.max(scheduled_at ?? 0, clock.now()) - dayMs
  const [newest] = await campaignsSince(read, accountId, since)
  if (newest === undefined) return []
  const ids = members.map(({ contactId }) => contactId)
  const mailed = await mailedSince(read, ids, since)
  if (mailed === 0) return []
  const says = `“${campaignName(newest)}” left within a day before: ${shown(mailed)} of the first ${counted(members.length, 'person', 'people')} got mail from you since.`
  return [{ tone: 'doubt', says, ...(mend && { mend }) }]
}

/** The merge tags, and how many of the first people have no value for each. */
async function tagChecks(
  { store: { read }, renderer }: Pick<CampaignPageDeps, 'store' | 'renderer'>,
  { seen: draft, html, mend }: SeenContent,
  members: readonly AudienceMember[],
): Promise<CampaignCheck[]> {
  const values = members.map((member) => mergeValues(member))
  const odd = await oddChecks(read, { seen: draft, html, mend }, values)
  const source = `${draft.subject} ${draft.preview_text ?? ''} ${html}`
  const bare = new Set<string>()
  for (const [, name = '', rest = ''] of source.matchAll(
    /\{\{-?\s*([A-Za-z_][\w-]{0,63}(?:\.[\w-]{1,63}){0,4})([^{}]{0,300})\}\}/g,
  )) {
    if (!isCopyTag(name) && !rest.includes('default')) bare.add(name)
  }
  if (bare.size === 0) return odd.checks
  // What the content names itself, as the variable of a loop, is nobody's.
  const asked = { subject: draft.subject, html, textBody: draft.preview_text ?? undefined }
  const { paths } = await readDraft(renderer, draft.account_id, asked)
  const names = paths.filter((path) => bare.has(path) && !odd.names.has(path)).slice(0, mostTags)
  const missing = names.flatMap((name): CampaignCheck[] => {
    const tag = { path: name.split('.'), fallback: '' }
    const without = values.filter((own) => mergedValue(tag, own) === '').length
    if (without === 0) return []
    const whom =
      values.length === 1
        ? 'the one person who gets it'
        : `${shown(without)} of the first ${counted(values.length, 'person', 'people')}`
    const says = `{{ ${name} }} has no value for ${whom}, and says nothing if there is none.`
    return [{ tone: 'doubt', says, ...(mend && { mend }) }]
  })
  return [...odd.checks, ...missing]
}

/** The tags of all versions that are no field, where nobody's values can be looked at. */
export async function tagsOfNobody(
  { store: { read } }: Pick<CampaignPageDeps, 'store'>,
  contents: readonly SeenContent[],
): Promise<CampaignCheck[]> {
  const looked = contents.map(async (one) => ({
    key: one.key,
    checks: (await oddChecks(read, one, [])).checks,
  }))
  return ofVersions(await Promise.all(looked))
}

/** The tags that are no field: none of which one of the first people has a value. */
async function oddChecks(
  read: Read,
  { seen, html, mend }: Pick<SeenContent, 'seen' | 'html' | 'mend'>,
  values: readonly ReturnType<typeof mergeValues>[],
): Promise<{ checks: CampaignCheck[]; names: ReadonlySet<string> }> {
  const { subject, preview_text: previewText, account_id: accountId } = seen
  const content = { subject, html, previewText: previewText ?? undefined, blocks: blocksOf(seen) }
  const odd = (await oddTagsOf(read, accountId, content)).filter(({ name }) => {
    const tag = { path: name.split('.'), fallback: '' }
    return values.every((own) => mergedValue(tag, own) === '')
  })
  return {
    checks: odd.map(({ says }) => ({ tone: 'doubt', says, ...(mend && { mend }) })),
    names: new Set(odd.map(({ name }) => name)),
  }
}
