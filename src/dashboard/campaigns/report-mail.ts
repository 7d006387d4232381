import { counted } from '../../amounts/index.js'
import {
  asRecipientsGet,
  type Broadcast,
  broadcastReport,
  findBroadcast,
  renderFor,
} from '../../broadcasts/index.js'
import { ApiError } from '../../errors/index.js'
import { linkOf } from '../../stats/index.js'
import type { Read } from '../../store/index.js'
import { stranger } from '../../templates/index.js'
import { trackableLinks } from '../../tracking/index.js'
import { frame, type PageAnswer, page } from '../shell/answer.js'
import { linkTo } from '../shell/listing.js'
import type { Visit } from '../shell/visit.js'
import type { CampaignPageDeps } from './deps.js'
import { shownCopy } from './preview.js'
import { versionNames } from './versions.js'

interface ReportMailView {
  back: { label: string; href: string }
  /** Undefined: nothing of it has left, so nobody has clicked. */
  isBegun: boolean
  frame: string
  name: string
  isKept: boolean
  /** Undefined: it has one. */
  versions: { label: string; href: string; here: boolean }[] | undefined
}

/** The mail of a campaign; once it has begun, with how many people clicked each link, beside it. Throws a 404. */
export async function showReportMail(
  { store: { read } }: CampaignPageDeps,
  { account, base, params, query }: Visit,
): Promise<PageAnswer> {
  const broadcast = await findBroadcast(read, account.id, params.id ?? '')
  const report = `${base}/campaigns/${broadcast.id}/report`
  const isBegun = broadcast.sent_at !== null
  const { versions, shown } = await versionAsked(read, broadcast, query)
  const names = versionNames(versions)
  const view: ReportMailView = {
    back: isBegun
      ? { label: 'Report', href: report }
      : { label: 'Campaign', href: `${base}/campaigns/${broadcast.id}` },
    isBegun,
    frame: linkTo(`${report}/mail/html`, { version: shown.key }),
    name: broadcast.name ?? broadcast.subject,
    isKept: (await htmlOf(read, shown.seen.body_id)) !== null,
    versions:
      versions.length < 2
        ? undefined
        : versions.map(({ key }) => ({
            label: names.get(key) ?? '',
            href: linkTo(`${report}/mail`, { version: key }),
            here: key === shown.key,
          })),
  }
  return page('campaigns/report-mail', view, {
    title: `${isBegun ? 'Clicks in the mail' : 'The mail'}: ${view.name}`,
  })
}

/** The mail itself, for a frame that runs nothing, as somebody gets it of whom nothing is known. */
export async function reportMailFrame(
  deps: CampaignPageDeps,
  { account, params, query }: Visit,
): Promise<PageAnswer> {
  const { read } = deps.store
  const broadcast = await findBroadcast(read, account.id, params.id ?? '')
  const { shown } = await versionAsked(read, broadcast, query)
  const html = (await htmlOf(read, shown.seen.body_id)) ?? ''
  const { publicUrl } = deps
  if (broadcast.sent_at === null) {
    return frame(await copyOf(deps, shown.seen, html), { publicUrl })
  }
  const { links } = await broadcastReport(deps, account.id, broadcast.id)
  const people = new Map(links.map((link) => [link.url, link.people]))
  // Links are known as they are written, so that the marks come before what is merged in.
  return frame(await copyOf(deps, shown.seen, withClicks(html, people)), { publicUrl })
}

/** The versions of a campaign, and the one that is looked at: the first, where no other is asked for. */
async function versionAsked(
  read: Read,
  broadcast: Broadcast,
  query: URLSearchParams,
): Promise<{ versions: Version[]; shown: Version }> {
  const versions = await asRecipientsGet(read, broadcast)
  const asked = query.get('version')
  const [first = { key: undefined, seen: broadcast }] = versions
  return { versions, shown: versions.find(({ key }) => key === asked) ?? first }
}

type Version = Awaited<ReturnType<typeof asRecipientsGet>>[number]

/** As a copy of it arrives; where it does not render any more, as it is written. */
async function copyOf(deps: CampaignPageDeps, seen: Broadcast, html: string): Promise<string> {
  if (html === '') return html
  const { account_id: accountId } = seen
  try {
    const content = { subject: '-', html, previewText: seen.preview_text ?? undefined }
    const made = await renderFor(deps.renderer, accountId, content, stranger)
    const isNotice = seen.notice_reason !== null
    const { html: copy } = await shownCopy(deps, made.html, { accountId, isNotice })
    return copy
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return html
  }
}

async function htmlOf(read: Read, bodyId: number): Promise<string | null> {
  const body = await read
    .selectFrom('bodies')
    .select('html')
    .where('id', '=', bodyId)
    .executeTakeFirst()
  return body?.html ?? null
}

const badge =
  'display:inline-block;margin:0 4px;padding:1px 6px;border-radius:9px;background:#1d4ed8;color:#fff;font:bold 12px/16px sans-serif;text-decoration:none'

/** HTML with a mark in front of what each link says; a link that nobody clicked has one too, one of each recipient's own none. */
export function withClicks(html: string, people: ReadonlyMap<string, number>): string {
  let shown = ''
  let from = 0
  for (const { end, target } of trackableLinks(html)) {
    const tagEnd = html.indexOf('>', end) + 1
    if (tagEnd === 0 || tagEnd < from || isMerged.test(target)) continue
    const count = people.get(linkOf(target) ?? '') ?? 0
    shown += `${html.slice(from, tagEnd)}<span style="${badge}">${counted(count, 'person', 'people')}</span>`
    from = tagEnd
  }
  return shown + html.slice(from)
}

// A merge tag, percent-encoded or not: each person has another address there.
const isMerged = /\{[{%]|%7b(?:\{|%7b|%|%25)/i
