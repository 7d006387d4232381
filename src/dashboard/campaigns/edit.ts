import { type Broadcast, draftVersions, whomOf } from '../../broadcasts/index.js'
import { verifiedDomains } from '../../domains/index.js'
import { findTemplate } from '../../templates/index.js'
import { listTopics } from '../../topics/index.js'
import { blockCards } from '../blocks/cards.js'
import { unfinishedIn } from '../blocks/finished.js'
import { documentFaults, type TypedDocument } from '../blocks/form.js'
import { pictureChoices } from '../blocks/picture-choices.js'
import { savedBlocks } from '../blocks/saved-part.js'
import { tagMenu } from '../blocks/tag-menu.js'
import { placeOf } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { FormField } from '../shell/field.js'
import type { Html } from '../shell/html.js'
import { namedOptions } from '../shell/named-options.js'
import type { Visit } from '../shell/visit.js'
import { clockChangeTyped } from '../typed-moment.js'
import {
  type AudienceChoice,
  listChoices,
  mostChoices,
  segmentChoices,
} from './audience-choices.js'
import { beginPart, begunWith, isNowHtml } from './begin.js'
import { countedNow, countedTyped } from './counted-now.js'
import type { CampaignPageDeps } from './deps.js'
import { type DraftValues, keptValues } from './draft-values.js'
import { filesPart } from './files.js'
import { mostShown } from './form.js'
import { isPaceTyped, paceFieldsOf, paceWords, withPaceTyped } from './pace-part.js'
import { type CampaignPreview, campaignPreview } from './preview.js'
import { askedContact, previewPart } from './preview-part.js'
import { sendersOf } from './senders.js'
import { newerThan, ofTwoWriters } from './two-writers.js'
import { asVersion } from './version-content.js'
import { campaignName, shown } from './words.js'

export interface EditCampaignView {
  base: string
  title: string
  /** It shows what was typed, which the draft does not have: to be checked and sent it is saved first. */
  isUnsaved: boolean
  /** The campaign as which it was typed, where that was sent meanwhile: it can be a draft of its own. */
  sent: { name: string; page: string; says: string } | undefined
  /** Undefined while it is not kept yet. */
  page: string | undefined
  action: string
  previewAction: string
  values: DraftValues
  /** How large its HTML is, where it is too large for a field. */
  largeHtml: string | undefined
  whom: Record<'lists' | 'segments' | 'withoutLists' | 'withoutSegments', readonly string[]>
  revision: string
  /** Of the draft as somebody else has saved it since this page was opened. */
  newer: string | undefined
  lists: AudienceChoice[]
  segments: AudienceChoice[]
  /** What lists and segments are looked for by. */
  find: string
  /** There are more than the page shows. */
  hasMore: boolean
  topics: AudienceChoice[]
  domains: string
  /** What mail may be from: as the last campaigns were, then the domains. */
  senders: string[]
  zone: string
  /** What a change of clocks makes of its time. */
  clocks: string | undefined
  /** Why everybody must get it; undefined: it is no notice. */
  notice: string | undefined
  mayNotice: boolean
  ownTime: boolean
  archive: boolean
  isPaced: boolean | undefined
  /** The fields of rate and hours. */
  pace: Html
  counted: string
  /** In characters, as the preview shows it: its merge tags filled in. */
  subjectLength: number
  /** The cards of its blocks; undefined where it is HTML. */
  blocks: Html | undefined
  /** What a new one can begin with, or the question whether that may take the place of what is written. */
  begin: Html | undefined
  /** The menu of merge tags. */
  tags: Html
  preview: Html
  /** The files that it carries; undefined while it is not kept yet. */
  files: Html | undefined
  /** Of its versions. */
  versionKeys: string[]
  testVersion: string
  faults: Faults
}

/**
 * A draft's page; without one, that of a new campaign. What was typed last is shown. `sent`: the campaign as which it was
 * typed, which is no draft any more.
 */
export async function editPage(
  deps: CampaignPageDeps,
  visit: Visit,
  draft: Broadcast | undefined,
  faults: Faults,
  { sent }: { sent?: Broadcast } = {},
): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, base, person, fields, query } = visit
  const domains = await verifiedDomains(read, account.id)
  const senders = await sendersOf(read, account, domains)
  const zone = person.timeZone ?? 'UTC'
  const begun = await begunWith(deps, visit, draft)
  const { document } = begun
  const slug = query.get('template')
  const template = slug === null ? undefined : await findTemplate(read, account.id, slug)
  const kept = {
    ...(await keptValues(read, draft ?? sent, { zone, account, senders, template })),
    to: person.email,
  }
  const wasTyped = fields.get('from') !== undefined
  const typed = (name: string, value: string) => (wasTyped ? (fields.get(name) ?? '') : value)
  const values = Object.fromEntries(
    Object.entries(kept).map(([name, value]) => [name, typed(name, value)]),
  ) as unknown as DraftValues
  // The form had blocks so far.
  if (document === undefined && isNowHtml(fields) && values.html === '') values.html = kept.html
  // The field of a large one is empty, and leaves it as it is.
  if (fields.get('keepsHtml') !== undefined && values.html === '') values.html = kept.html
  const isLarge = draft !== undefined && values.html === kept.html && values.html.length > mostShown
  const saved = draft === undefined ? undefined : whomOf(draft)
  const whom = whomTicked((name) => (wasTyped ? fields.all(name) : (saved?.[name] ?? [])))
  const revision = fields.get('revision') ?? String(draft?.revision ?? 0)
  const find = (fields.get('find') ?? '').trim().slice(0, 200)
  const chosenLists = [...whom.lists, ...whom.withoutLists]
  const lists = await listChoices(read, account.id, chosenLists, find)
  const chosenSegments = [...whom.segments, ...whom.withoutSegments]
  const segments = await segmentChoices(read, account.id, chosenSegments, find)
  const as = fields.get('as') ?? ''
  const { variants } = draft === undefined ? { variants: [] } : await draftVersions(read, draft)
  const versionKeys = variants.map(({ key = '' }) => key)
  const version = fields.get('version') ?? ''
  const looked = variants.find(({ key }) => key === version)
  const here = draft && `${base}/campaigns/${draft.id}`
  const change = `${here ?? `${base}/campaigns/new`}/preview`
  const previewed = await campaignPreview(
    deps,
    visit,
    { isNotice: draft?.notice_reason != null, ...asVersion({ ...values, document }, looked) },
    as,
  )
  const subjectShown = looked || values.subject.trim() === '' ? undefined : previewed.mail?.subject
  const view: EditCampaignView = {
    base,
    title: titleOf(draft, sent),
    sent: sentMeanwhile(sent, base),
    isUnsaved: wasTyped && draft !== undefined,
    page: here,
    action: here ?? `${base}/campaigns/new`,
    previewAction: change,
    values: isLarge ? Object.assign({}, values, { html: '' }) : values,
    largeHtml: isLarge ? `${shown(Math.round(values.html.length / 1024))} KB` : undefined,
    whom,
    revision,
    newer: newerThan(revision, draft),
    lists,
    segments,
    find,
    hasMore: find !== '' || lists.length >= mostChoices || segments.length >= mostChoices,
    topics: namedOptions(await listTopics(read, account.id)),
    notice: draft?.notice_reason ?? undefined,
    mayNotice: visit.may('campaigns.notice'),
    ownTime: wasTyped ? Boolean(fields.get('ownTime')) : (draft?.local_zone ?? null) !== null,
    archive: wasTyped ? Boolean(fields.get('archive')) : draft?.archive === 1,
    isPaced: wasTyped ? isPaceTyped(fields) : draft && paceWords(draft) !== undefined,
    pace: paceFieldsOf(draft, { zone, faults: wasTyped ? withPaceTyped(faults, fields) : faults }),
    domains: domains.join(', '),
    senders,
    files: draft && (await filesPart(deps, draft, faults)),
    zone: zone === 'UTC' ? 'UTC' : `the time in ${placeOf(zone)}`,
    clocks: clockChangeTyped(values.scheduledAt, { zone, at: keptMoment(draft) }),
    subjectLength: [...(subjectShown ?? values.subject)].length,
    counted: await (draft === undefined || wasTyped
      ? countedTyped(read, { accountId: account.id, whom, topicId: values.topicId }, draft)
      : countedNow(read, draft)),
    blocks:
      document &&
      blockCards({
        document,
        faults: { ...faults, fields: cardFaults(document, { faults, draft, wasTyped, previewed }) },
        change,
        mayWrite: true,
        pictures: await pictureChoices(read, account.id, deps.publicUrl),
        picturesPage: `${base}/pictures`,
        store: `${here ?? `${base}/campaigns/new`}/blocks`,
        saved: await savedBlocks(read, { accountId: account.id, base }, fields),
        isNotice: draft?.notice_reason != null,
      }),
    begin: beginPart(begun, { change, isNew: draft === undefined }),
    tags: await tagMenu(read, account.id, { isCampaign: true }),
    preview: previewPart(previewed, askedBeside(versionKeys, { version, as })),
    versionKeys,
    testVersion: fields.get('testVersion') ?? versionKeys[0] ?? '',
    faults,
  }
  return page('campaigns/edit', view, {
    title: view.title,
    editor: true,
    wide: true,
    ...ofTwoWriters(view.newer, faults),
  })
}

/** When it leaves, to the moment; null: by own clocks, of which a time that comes twice is always the first. */
const keptMoment = (draft: Broadcast | undefined): number | null =>
  draft === undefined || draft.local_zone !== null ? null : draft.scheduled_at

const sentMeanwhile = (sent: Broadcast | undefined, base: string): EditCampaignView['sent'] =>
  sent && {
    name: campaignName(sent),
    page: `${base}/campaigns/${sent.id}`,
    // Cancelled before it began.
    says: sent.status === 'cancelled' && sent.sent_at === null ? 'discarded' : 'sent',
  }

function titleOf(draft: Broadcast | undefined, sent: Broadcast | undefined): string {
  if (draft !== undefined) return campaignName(draft)
  return sent === undefined ? 'New campaign' : `A new draft of ${campaignName(sent)}`
}

const whomTicked = (
  ticked: (name: keyof EditCampaignView['whom']) => readonly string[],
): EditCampaignView['whom'] => ({
  lists: ticked('lists'),
  segments: ticked('segments'),
  withoutLists: ticked('withoutLists'),
  withoutSegments: ticked('withoutSegments'),
})

/** What is wrong with the cards: as they were typed, or as they are kept though they are not finished. */
const cardFaults = (
  document: TypedDocument,
  {
    faults,
    draft,
    wasTyped,
    previewed,
  }: {
    faults: Faults
    draft: Broadcast | undefined
    wasTyped: boolean
    previewed: CampaignPreview
  },
): Faults['fields'] => ({
  ...documentFaults(document),
  ...previewed.beside,
  ...(!wasTyped && unfinishedIn(draft?.unfinished)?.faults),
  ...faults.fields,
})

/** What the preview asks: whose data it has and, of several, which version it is. */
const askedBeside = (
  keys: readonly string[],
  { version, as }: { version: string; as: string },
): FormField[] => [...(keys.length === 0 ? [] : [askedVersion(keys, version)]), askedContact(as)]

const askedVersion = (keys: readonly string[], value: string): FormField => ({
  name: 'version',
  label: 'Version',
  type: 'select',
  value,
  options: [
    { value: '', label: 'What is written here' },
    ...keys.map((key) => ({ value: key, label: `Version ${key}` })),
  ],
})
