import { counted } from '../../amounts/index.js'
import { broadcastReport, findBroadcast } from '../../broadcasts/index.js'
import { linkOf } from '../../stats/index.js'
import type { Read } from '../../store/index.js'
import { trackableLinks } from '../../tracking/index.js'
import { frame, type PageAnswer, page } from '../shell/answer.js'
import type { Visit } from '../shell/visit.js'
import type { ReportPageDeps } from './report.js'

interface ReportMailView {
  back: { label: string; href: string }
  /** Undefined: nothing of it has left, so nobody has clicked. */
  isBegun: boolean
  frame: string
  name: string
  isKept: boolean
}

/** The mail of a campaign; once it has begun, with how many people clicked each link, beside it. Throws a 404. */
export async function showReportMail(
  { store: { read } }: ReportPageDeps,
  { account, base, params }: Visit,
): Promise<PageAnswer> {
  const broadcast = await findBroadcast(read, account.id, params.id ?? '')
  const report = `${base}/campaigns/${broadcast.id}/report`
  const isBegun = broadcast.sent_at !== null
  const view: ReportMailView = {
    back: isBegun
      ? { label: 'Report', href: report }
      : { label: 'Campaign', href: `${base}/campaigns/${broadcast.id}` },
    isBegun,
    frame: `${report}/mail/html`,
    name: broadcast.name ?? broadcast.subject,
    isKept: (await htmlOf(read, broadcast.body_id)) !== null,
  }
  return page('campaigns/report-mail', view, {
    title: `${isBegun ? 'Clicks in the mail' : 'The mail'}: ${view.name}`,
  })
}

/** The mail itself, for a frame that runs nothing: its merge tags stand as they were written. */
export async function reportMailFrame(
  { store: { read } }: ReportPageDeps,
  { account, params }: Visit,
): Promise<PageAnswer> {
  const { id, body_id, sent_at } = await findBroadcast(read, account.id, params.id ?? '')
  const { links } = await broadcastReport(read, account.id, id)
  const people = new Map(links.map((link) => [link.url, link.people]))
  const html = (await htmlOf(read, body_id)) ?? ''
  return frame(sent_at === null ? html : withClicks(html, people))
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

/** HTML with a mark in front of what each link says; a link that nobody clicked has one too. */
export function withClicks(html: string, people: ReadonlyMap<string, number>): string {
  let shown = ''
  let from = 0
  for (const { end, target } of trackableLinks(html)) {
    const tagEnd = html.indexOf('>', end) + 1
    if (tagEnd === 0 || tagEnd < from) continue
    const count = people.get(linkOf(target) ?? '') ?? 0
    shown += `${html.slice(from, tagEnd)}<span style="${badge}">${counted(count, 'person', 'people')}</span>`
    from = tagEnd
  }
  return shown + html.slice(from)
}
