import { readBilling } from '../../billing/index.js'
import { type Broadcast, htmlOf, judgeDraft } from '../../broadcasts/index.js'
import { verifiedDomains } from '../../domains/index.js'
import { ApiError } from '../../errors/index.js'
import { htmlParser, parseMailbox, textOfHtml } from '../../mime/index.js'
import type { Read } from '../../store/index.js'
import type { CampaignCheck } from './check.js'
import { type CampaignPageDeps, withExpand } from './deps.js'
import { peopleChecks } from './people-checks.js'
import { countWords, shown } from './words.js'

/** What speaks for and against sending a draft; `reachable`: undefined where it cannot be sent as it is. */
export interface CampaignChecks {
  checks: CampaignCheck[]
  reachable: number | undefined
}

// Gmail cuts a mail that has more.
const clippedBytes = 102 * 1024

/** Looks at a draft as it would leave now. */
export async function checksOf(
  deps: CampaignPageDeps,
  { accountId, base }: { accountId: string; base: string },
  draft: Broadcast,
): Promise<CampaignChecks> {
  const { read } = deps.store
  const html = await htmlOf(read, draft)
  const edit = { label: 'Write it', href: `${base}/campaigns/${draft.id}` }
  const checks: CampaignCheck[] = [await senderCheck(read, accountId, draft, base)]
  let reachable: number | undefined
  try {
    const { counts } = await judgeDraft(withExpand(deps), accountId, draft.id)
    reachable = counts.reachable
    checks.push({ tone: 'good', says: countWords(counts) })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // 402: of the plan, which has no room for so many, or is none.
    const mend = error.status === 402 ? { label: 'Your plan', href: `${base}/plan` } : edit
    checks.push({ tone: 'bad', says: error.message, mend })
  }
  checks.push(await leavingCheck(read, accountId, base), ...contentChecks(html, edit))
  if (reachable === undefined) return { checks, reachable }
  const { marketingPlan } = await readBilling(read, deps.plans, accountId)
  const says = `${marketingPlan?.name ?? 'Your plan'} has room for it.`
  checks.push({ tone: 'good', says }, ...(await peopleChecks(deps, draft, html, edit)))
  return { checks, reachable }
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
async function leavingCheck(read: Read, accountId: string, base: string): Promise<CampaignCheck> {
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

function contentChecks(html: string, mend: CampaignCheck['mend']): CampaignCheck[] {
  const doubt = (says: string): CampaignCheck => ({ tone: 'doubt', says, ...(mend && { mend }) })
  const good = (says: string): CampaignCheck => ({ tone: 'good', says })
  const size = Buffer.byteLength(html)
  const kib = `${Math.ceil(size / 1024)} KiB`
  const { text } = textOfHtml(html)
  const { bare, links } = seenIn(html)
  const odd = links.filter((href) => !isFollowed(href))
  return [
    size > clippedBytes
      ? doubt(`The HTML has ${kib}: Gmail cuts a mail after 102 KiB.`)
      : good(`The HTML has ${kib}, under the 102 KiB at which Gmail cuts.`),
    text.trim() === ''
      ? doubt('The text part is empty: readers without HTML see nothing.')
      : good('The text part is made from the HTML.'),
    bare > 0
      ? doubt(`Pictures without alternative text: ${shown(bare)}.`)
      : good('Every picture has alternative text.'),
    odd.length > 0
      ? doubt(
          `Links that lead nowhere: ${odd.slice(0, 3).join(', ').slice(0, 200) || 'empty ones'}.`,
        )
      : good(links.length === 0 ? 'There is no link in it.' : 'Every link leads somewhere.'),
  ]
}

/** Pictures without alternative text, and where links lead; read in one pass, whatever was written. */
function seenIn(html: string): { bare: number; links: string[] } {
  const seen: { bare: number; links: string[] } = { bare: 0, links: [] }
  const parser = new (htmlParser().Parser)({
    onopentag(tag, { href, alt }) {
      if (tag === 'img' && alt === undefined) seen.bare++
      if (tag === 'a' && href !== undefined) seen.links.push(href)
    },
  })
  parser.end(html)
  return seen
}

const isFollowed = (href: string) => /^(https?:\/\/[^/]|mailto:|tel:|\{\{|%7B%7B)/i.test(href)
