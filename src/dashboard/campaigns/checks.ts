import { counted } from '../../amounts/index.js'
import { readBilling } from '../../billing/index.js'
import {
  alikeVersions,
  alikeWords,
  type Broadcast,
  draftVersions,
  goneWords,
  isTooShortForOpens,
  lookAtDraft,
  opensMeasured,
  takeBackMs,
  whyUnmeasured,
} from '../../broadcasts/index.js'
import { verifiedDomains } from '../../domains/index.js'
import type { ApiError } from '../../errors/index.js'
import { parseMailbox } from '../../mime/index.js'
import { rehearse } from '../../rehearsals/index.js'
import type { Read } from '../../store/index.js'
import { weightOf } from '../../tracking/index.js'
import type { Followed } from '../sandbox/follow-links.js'
import type { CampaignCheck } from './check.js'
import { contentChecks } from './content-checks.js'
import { fillingWords } from './counted-now.js'
import { type CampaignPageDeps, withExpand } from './deps.js'
import { forecastWords } from './forecast.js'
import { peopleChecks, tagsOfNobody } from './people-checks.js'
import { contentsOf, ofVersions, type SeenContent } from './version-checks.js'
import { countWords, shown } from './words.js'

/** What speaks for and against sending a draft; `reachable`: undefined where it cannot be sent as it is. */
export interface CampaignChecks {
  checks: CampaignCheck[]
  reachable: number | undefined
}

/** Looks at a draft as it would leave now. */
export async function checksOf(
  deps: CampaignPageDeps,
  { accountId, base }: { accountId: string; base: string },
  draft: Broadcast,
  { followed, zone = 'UTC' }: { followed?: readonly Followed[] | undefined; zone?: string } = {},
): Promise<CampaignChecks> {
  const { read } = deps.store
  const edit = { label: 'Write it', href: `${base}/campaigns/${draft.id}` }
  const { refusals, counts } = await lookAtDraft(withExpand(deps), accountId, draft.id)
  const reachable = refusals.length === 0 ? counts?.reachable : undefined
  // Of versions that are too many: how many people they need.
  const isSmall = refusals.some(({ fields }) => 'needed' in fields)
  const checks: CampaignCheck[] = [
    await senderCheck(read, accountId, draft, base),
    ...(await refusalChecks(read, draft, { refusals, base, edit })),
  ]
  if (counts !== undefined && counts.fit > 0) {
    checks.push({ tone: counts.reachable > 0 ? 'good' : 'none', says: countWords(counts) })
  }
  const filling = await fillingWords(read, draft)
  if (filling !== undefined) checks.push({ tone: 'doubt', says: filling })
  checks.push(
    ...(await versionChecks(deps, draft, { base, isSmall })),
    await leavingCheck(read, draft, base),
  )
  const contents = await contentsOf(deps, draft, edit)
  checks.push(...deadLinkChecks(draft, contents, edit))
  const looked = contents.map(async ({ key, seen, made, mend }) => ({
    key,
    checks: made === undefined ? [] : await contentChecks(read, seen, made, { mend, followed }),
  }))
  checks.push(...ofVersions(await Promise.all(looked)))
  const unseen = contents.some(({ made }) => made !== undefined)
    ? await whyUnmeasured(deps, draft)
    : undefined
  if (unseen !== undefined) {
    const isShort = await isTooShortForOpens(deps, draft)
    const says = isShort ? shortWords(contents) : `Opens will not be counted: ${unseen}.`
    // A notice is to be read, and a short mail is no fault.
    if (!isShort) checks.push({ tone: 'doubt', says, mend: edit })
    else if (draft.notice_reason === null) checks.push({ tone: 'none', says, mend: edit })
  }
  if (reachable === undefined) {
    const isSomebody = counts !== undefined && counts.reachable > 0
    checks.push(
      ...(isSomebody
        ? await peopleChecks(deps, draft, { contents, base })
        : await tagsOfNobody(deps, contents)),
    )
    return { checks, reachable }
  }
  const { marketingPlan } = await readBilling(read, deps.plans, accountId)
  const says = `${marketingPlan?.name ?? 'Your plan'} has room for it.`
  checks.push({ tone: 'good', says }, ...(await peopleChecks(deps, draft, { contents, base })))
  const { store, clock, rehearsing } = deps
  const from = clock.now() + takeBackMs
  const how = { alternatives: false, notBefore: from, forPeople: true }
  const rehearsed = await rehearse({ store, clock, ...rehearsing }, accountId, draft.id, how)
  const forecast = await forecastWords(read, draft, {
    people: reachable,
    from,
    zone,
    rehearsed,
  })
  const rehearsal = { label: 'By provider', href: `${base}/campaigns/${draft.id}/rehearsal` }
  if (forecast !== undefined) {
    const tone = rehearsed.doneAt === null ? 'doubt' : 'none'
    checks.push({ tone, says: forecast, mend: rehearsal })
  }
  return { checks, reachable }
}

/** Of a notice: links by which nobody can unsubscribe. */
function deadLinkChecks(
  { notice_reason: notice }: Broadcast,
  contents: readonly SeenContent[],
  mend: NonNullable<CampaignCheck['mend']>,
): CampaignCheck[] {
  if (notice === null) return []
  const dead = ['unsubscribe_url', 'preferences_url'].map((name) => `{{ ${name} }}`)
  return dead
    .filter((tag) => contents.some(({ made }) => made?.html.includes(tag)))
    .map((tag) => {
      const says = `${tag} is empty in a notice, so a link to it leads nowhere: take it out.`
      return { tone: 'doubt', says, mend }
    })
}

/** All that is in the way, each with where it is mended; what is wrong with the sender is told by a check of its own. */
async function refusalChecks(
  read: Read,
  draft: Broadcast,
  {
    refusals,
    base,
    edit,
  }: { refusals: readonly ApiError[]; base: string; edit: NonNullable<CampaignCheck['mend']> },
): Promise<CampaignCheck[]> {
  const others = refusals.filter(({ fields }) => !('domain' in fields))
  const told = others.map(async (error): Promise<CampaignCheck> => {
    const written = 'needed' in error.fields ? versionsOf(base, draft) : edit
    // 402: of the plan, which has no room for so many, or is none.
    const mend = error.status === 402 ? { label: 'Your plan', href: `${base}/plan` } : written
    const gone = error.code === 'not_found' ? await goneWords(read, draft) : undefined
    const says = gone === undefined ? (error.slips[0]?.says ?? error.message) : `${gone}.`
    return { tone: 'bad', says, mend }
  })
  return await Promise.all(told)
}

/** Of a mail that is too short for the picture that counts opens: what that means, and what to do. */
function shortWords(contents: readonly SeenContent[]): string {
  const [longest] = contents
    .flatMap(({ made }) => (made === undefined ? [] : [weightOf(made.html)]))
    .toSorted((one, other) => other.has - one.has)
  const { has = 0, wants = 0 } = longest ?? {}
  return `Opens will not be counted. They are counted by an unseen picture, and beside so few words filters take a picture for spam: the mail has no other picture and ${counted(has, 'character')} of text, and ${shown(wants)} are needed. A short mail may stay as it is; clicks are counted. To count opens, put a picture into it.`
}

const versionsOf = (base: string, { id }: Broadcast) => ({
  label: 'Versions',
  href: `${base}/campaigns/${id}/versions`,
})

const opensNotToBe =
  'The best version is to be found by opens, and opens of this campaign will not be measured: nothing will tell the versions apart. Choose clicks, or have opens tracked.'

/** Of a draft in several versions: that they are tried, and which of them are alike. */
async function versionChecks(
  deps: CampaignPageDeps,
  draft: Broadcast,
  { base, isSmall }: { base: string; isSmall: boolean },
): Promise<CampaignCheck[]> {
  const { read } = deps.store
  const { variants, test } = await draftVersions(read, draft)
  if (variants.length === 0) return []
  const mend = versionsOf(base, draft)
  const says = `${variants.length} versions are tried on ${test.share} % of the audience.`
  const alike = alikeVersions(draft, variants)
  const isBlind = test.by === 'opens' && !(await opensMeasured(deps, draft))
  return [
    { tone: isSmall ? 'none' : 'good', says, mend },
    ...(isBlind ? [{ tone: 'doubt' as const, says: opensNotToBe, mend }] : []),
    ...alike.map((keys) => ({
      tone: 'doubt' as const,
      says: `${alikeWords(keys)}.`,
      mend,
    })),
  ]
}

async function senderCheck(
  read: Read,
  accountId: string,
  { from_header }: Broadcast,
  base: string,
): Promise<CampaignCheck> {
  const domain = parseMailbox(from_header)?.domain ?? ''
  const isVerified = (await verifiedDomains(read, accountId)).includes(domain)
  return isVerified
    ? { tone: 'good', says: `${domain} is verified, so mail is signed in its name.` }
    : {
        tone: 'bad',
        says: `${domain} is not verified.`,
        mend: { label: 'Domains', href: `${base}/domains` },
      }
}

/** Each mail gets a way to unsubscribe; the postal address is the sender's to give. */
async function leavingCheck(
  read: Read,
  { account_id: accountId, notice_reason: notice }: Broadcast,
  base: string,
): Promise<CampaignCheck> {
  if (notice !== null) {
    const says = `Everybody gets it, also who has unsubscribed, and nobody can unsubscribe in it: “${notice}”. Only an owner sends it.`
    return { tone: 'doubt', says }
  }
  const brand = await read
    .selectFrom('brands')
    .select('postal_address')
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return brand?.postal_address
    ? { tone: 'good', says: 'Each mail has a way to unsubscribe, and your postal address.' }
    : {
        tone: 'doubt',
        says: 'Each mail has a way to unsubscribe, but no postal address, which many laws want.',
        mend: { label: 'Brand', href: `${base}/brand` },
      }
}
