import { type Broadcast, htmlOf, whomOf } from '../../broadcasts/index.js'
import { localTime } from '../../clock/index.js'
import { listPage } from '../../contacts/index.js'
import { verifiedDomains } from '../../domains/index.js'
import { listSegments } from '../../segments/index.js'
import { type Read, readExtras } from '../../store/index.js'
import { listTopics } from '../../topics/index.js'
import { placeOf } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { Visit } from '../shell/visit.js'
import type { CampaignPageDeps } from './deps.js'
import { type CampaignPreview, campaignPreview } from './preview.js'
import { campaignName, countsOf, countWords } from './words.js'

interface Choice {
  value: string
  label: string
}

export interface EditCampaignView {
  base: string
  title: string
  /** Undefined while it is not kept yet. */
  page: string | undefined
  action: string
  previewAction: string
  values: Record<
    'name' | 'subject' | 'previewText' | 'from' | 'replyTo' | 'html' | 'topicId' | 'scheduledAt',
    string
  >
  whom: Record<'lists' | 'segments' | 'withoutLists' | 'withoutSegments', readonly string[]>
  revision: number
  lists: Choice[]
  segments: Choice[]
  topics: Choice[]
  domains: string
  zone: string
  counted: string
  as: string
  preview: CampaignPreview
  test: string
  faults: Faults
}

// A page has room for so many; older ones stay in an audience that has them.
const mostChoices = 40

const usual = `<!doctype html>
<html lang="en">
<body style="margin: 0; padding: 24px; font: 16px/1.5 sans-serif">
  <h1 style="font-size: 22px">Hello {{ firstName | default: "there" }}</h1>
  <p>Write here what you have to say.</p>
</body>
</html>
`

/** A draft's page; without one, that of a new campaign. What was typed last is shown. */
export async function editPage(
  deps: CampaignPageDeps,
  visit: Visit,
  draft: Broadcast | undefined,
  faults: Faults,
): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, base, person, fields } = visit
  const domains = await verifiedDomains(read, account.id)
  const zone = person.timeZone ?? 'UTC'
  const kept = await keptValues(read, draft, { zone, account, domain: domains[0] })
  const typed = (name: string, value: string) =>
    fields.get('from') === undefined ? value : (fields.get(name) ?? '')
  const values = Object.fromEntries(
    Object.entries(kept).map(([name, value]) => [name, typed(name, value)]),
  ) as EditCampaignView['values']
  const saved = draft === undefined ? undefined : whomOf(draft)
  const ticked = (name: keyof EditCampaignView['whom']) =>
    fields.get('from') === undefined ? (saved?.[name] ?? []) : fields.all(name)
  const whom = {
    lists: ticked('lists'),
    segments: ticked('segments'),
    withoutLists: ticked('withoutLists'),
    withoutSegments: ticked('withoutSegments'),
  }
  const as = fields.get('as') ?? ''
  const here = draft && `${base}/campaigns/${draft.id}`
  const view: EditCampaignView = {
    base,
    title: draft === undefined ? 'New campaign' : campaignName(draft),
    page: here,
    action: here ?? `${base}/campaigns/new`,
    previewAction: here === undefined ? `${base}/campaigns/new/preview` : `${here}/preview`,
    values,
    whom,
    revision: draft?.revision ?? 0,
    lists: (await listPage(read, account.id, { limit: mostChoices })).page.map(choiceOf),
    segments: (await listSegments(read, account.id)).slice(0, mostChoices).map(choiceOf),
    topics: (await listTopics(read, account.id)).map(choiceOf),
    domains: domains.join(', '),
    zone: zone === 'UTC' ? 'UTC' : `the time in ${placeOf(zone)}`,
    counted: draft === undefined ? '' : countWords(countsOf(draft)),
    as,
    preview: await campaignPreview(deps, visit, values, as),
    test: person.email,
    faults,
  }
  return page('campaigns/edit', view, { title: view.title, editor: true, wide: true })
}

const choiceOf = ({ id, name }: { id: string; name: string }): Choice => ({
  value: id,
  label: name,
})

/** What a draft has, or what a new one begins with: the sender of the campaign before. */
async function keptValues(
  read: Read,
  draft: Broadcast | undefined,
  {
    zone,
    account,
    domain,
  }: { zone: string; account: { id: string; name: string }; domain: string | undefined },
): Promise<EditCampaignView['values']> {
  if (draft === undefined) {
    const before = await read
      .selectFrom('broadcasts')
      .select('from_header')
      .where('account_id', '=', account.id)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst()
    const from = domain === undefined ? '' : `${account.name} <news@${domain}>`
    return {
      name: '',
      subject: '',
      previewText: '',
      from: before?.from_header ?? from,
      replyTo: '',
      html: usual,
      topicId: '',
      scheduledAt: '',
    }
  }
  const { replyTo = [] } = readExtras(draft.extras) ?? {}
  return {
    name: draft.name ?? '',
    subject: draft.subject,
    previewText: draft.preview_text ?? '',
    from: draft.from_header,
    replyTo: draft.reply_to ?? replyTo.join(', '),
    html: await htmlOf(read, draft),
    topicId: draft.topic_id ?? '',
    scheduledAt: draft.scheduled_at === null ? '' : localTime(draft.scheduled_at, zone),
  }
}
