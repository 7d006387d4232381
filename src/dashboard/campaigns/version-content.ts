import { optional, string, type } from 'superstruct'
import { readBilling } from '../../billing/index.js'
import * as operations from '../../broadcasts/contract.js'
import {
  type Broadcast,
  type BroadcastInput,
  blocksOf,
  changeDraft,
  draftVersions,
  findBroadcast,
  htmlOf,
  unfinishedVersionsOf,
} from '../../broadcasts/index.js'
import { isRecent } from '../../clock/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { check, structOf } from '../../fields/index.js'
import { blockCards } from '../blocks/cards.js'
import { blockDeedPages } from '../blocks/deed-pages.js'
import { savedOrKept, type UnfinishedDocument, unfinishedIn } from '../blocks/finished.js'
import {
  checkedDocument,
  documentFaults,
  documentIn,
  type TypedDocument,
  typedOf,
} from '../blocks/form.js'
import { pageWithOpen, withOpen } from '../blocks/open-cards.js'
import { pictureChoices } from '../blocks/picture-choices.js'
import { withPictureWords } from '../blocks/picture-words.js'
import { savedBlocks } from '../blocks/saved-part.js'
import { tagMenu } from '../blocks/tag-menu.js'
import { page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { type CampaignPageDeps, withExpand } from './deps.js'
import { maxBodyBytes, mostShown, oneWritingMs } from './form.js'
import { ledToCampaign } from './no-draft.js'
import { campaignPreview } from './preview.js'
import { askedContact, previewPart } from './preview-part.js'
import { newerThan, ofTwoWriters } from './two-writers.js'
import { campaignName, shown } from './words.js'

type Version = NonNullable<BroadcastInput['variants']>[number]

interface VersionContentView {
  /** It shows what was typed, which is not saved. */
  isUnsaved: boolean
  id: string
  page: string
  versions: string
  key: string
  name: string
  revision: string
  /** Of the draft as somebody else has saved it since this page was opened. */
  newer: string | undefined
  /** Whether it has a content of its own already. */
  own: boolean
  /** The cards of its blocks; undefined where it is HTML. */
  blocks: Html | undefined
  html: string
  /** How large its HTML is, where it is too large for a field. */
  largeHtml: string | undefined
  /** The menu of merge tags. */
  tags: Html
  preview: Html
  faults: Faults
}

const ContentForm = type({
  revision: string(),
  /** The revision that somebody else has saved meanwhile, to be written over. */
  over: optional(string()),
  html: optional(string()),
  /** There where an empty `html` leaves it as it is. */
  keepsHtml: optional(string()),
  /** `as-draft` takes its content away; `keep` is sent while somebody writes. */
  next: optional(string()),
})

/** The content of one version of a draft: blocks or HTML, as the draft has it until it is written here. */
export function versionContentPages(pages: AccountPages, deps: CampaignPageDeps): void {
  const { read } = deps.store
  const at = '/campaigns/:id/versions/:key'
  const show = async (visit: Visit, faults: Faults) => {
    const found = await findBroadcast(read, visit.account.id, visit.params.id ?? '')
    if (found.status !== 'draft') return ledToCampaign(visit, found)
    return showContent(deps, visit, await versionIn(deps, visit), faults)
  }
  pages.get(at, 'campaigns.write', (visit) => show(visit, noFaults))
  const looking = { action: 'campaigns.write', reads: true, maxBodyBytes } as const
  blockDeedPages(pages, deps, at, { looking, show })
  const writing = {
    action: 'campaigns.write',
    form: ContentForm,
    maxBodyBytes,
    again: show,
  } as const
  pages.post(at, writing, async (visit) => {
    const { account, base, form } = visit
    const { draft, variants, test, version } = await versionIn(deps, visit)
    const { key = '' } = version
    const billing = await readBilling(read, deps.plans, account.id)
    const revision = Number(form.over ?? form.revision)
    const isTaken = form.next === 'as-draft'
    const write = async (document: TypedDocument | undefined, rest?: UnfinishedDocument) => {
      const content = contentGiven(form, document, version)
      const given = {
        variants: variants.map((one) => (one.key === key ? written(one, content) : one)),
        variantTest: test,
      }
      check(given, structOf(operations.draftChanges))
      await changeDraft(withExpand(deps), billing, draft.id, given, {
        revision,
        unfinishedVersions: new Map([[key, rest && !isTaken ? JSON.stringify(rest) : null]]),
      })
    }
    const fields = await withPictureWords(deps, account.id, visit.fields)
    const { flash } = await savedOrKept({ form, fields }, write, {
      before: version.blocks ?? blocksOf(draft),
      saved: isTaken ? `Version ${key} has the content of the draft` : `Version ${key} is saved`,
      within: `variants.${variants.indexOf(version)}.`,
      keepsAll: true,
    })
    const versions = `${base}/campaigns/${draft.id}/versions`
    const isKept = form.next === 'keep'
    const isKeptOn = isKept && isRecent(draft.changed_at ?? 0, deps.clock.now(), oneWritingMs)
    const here = `${versions}/${key}`
    const page = isKept ? here : pageWithOpen(here, fields)
    return redirect(isTaken ? versions : page, {
      ...(flash !== undefined && { flash }),
      audit: isKeptOn ? 'noted' : auditOf(operations.updateBroadcast, { target: draft.id }),
    })
  })
}

/** The draft and its version of the path; throws a 404, or a 409 for what is no draft. */
async function versionIn(
  { store }: CampaignPageDeps,
  { account, params }: Pick<Visit, 'account' | 'params'>,
) {
  const draft = await findBroadcast(store.read, account.id, params.id ?? '')
  if (draft.status !== 'draft') {
    throw new ApiError('conflict', 'Only the versions of a draft can be written')
  }
  const { variants, test } = await draftVersions(store.read, draft)
  const version = variants.find(({ key }) => key === params.key)
  if (version === undefined) throw new ApiError('not_found', 'The draft has no such version')
  const unfinished = unfinishedIn(
    (await unfinishedVersionsOf(store.read, draft)).get(params.key ?? ''),
  )
  return { draft, variants, test, version, unfinished }
}

type Content = Pick<Version, 'html' | 'blocks'>

/** What the form gives a version as content; nothing where it is to be as the draft has it. */
function contentGiven(
  { html = '', keepsHtml, next }: typeof ContentForm.TYPE,
  document: TypedDocument | undefined,
  before: Version,
): Content {
  if (next === 'as-draft') return {}
  if (document !== undefined) return { blocks: checkedDocument(document) }
  return keepsHtml !== undefined && html === '' ? { html: before.html } : { html }
}

const written = ({ key, subject, fromName, previewText }: Version, content: Content): Version => ({
  key,
  subject,
  fromName,
  previewText,
  ...content,
})

const isOwn = ({ html, blocks }: Content) => Boolean(html || blocks)

/** What is typed of a draft, as one of its versions has it. */
export function asVersion<T extends TypedContent>(typed: T, version: Version | undefined): T {
  if (version === undefined) return typed
  const { subject, previewText, html, blocks } = version
  return {
    ...typed,
    subject: subject || typed.subject,
    previewText: previewText || typed.previewText,
    ...(isOwn(version) && { html: html ?? '', document: blocks ? typedOf(blocks) : undefined }),
  }
}

interface TypedContent {
  subject: string
  previewText: string
  html: string
  document: TypedDocument | undefined
}

interface Written {
  draft: Broadcast
  version: Version
  /** What of it is not finished. */
  unfinished: UnfinishedDocument | undefined
}

async function showContent(
  deps: CampaignPageDeps,
  visit: Visit,
  { draft, version, unfinished }: Written,
  faults: Faults,
) {
  const { read } = deps.store
  const { account, base, fields, query } = visit
  const whole = blocksOf(draft)
  const isNotice = draft.notice_reason !== null
  const saved = asVersion(
    {
      subject: draft.subject,
      previewText: draft.preview_text ?? '',
      html: isOwn(version) ? '' : await htmlOf(read, draft),
      document: whole === null ? undefined : typedOf(whole),
    },
    version,
  )
  const wasTyped = fields.get('revision') !== undefined
  const kept = unfinished ?? saved.document
  const document = wasTyped ? documentIn(fields) : kept && withOpen(kept, query)
  const typed = wasTyped ? (fields.get('html') ?? '') : saved.html
  const html = fields.get('keepsHtml') !== undefined && typed === '' ? saved.html : typed
  const isLarge = isOwn(version) && html === saved.html && html.length > mostShown
  const as = fields.get('as') ?? ''
  const versions = `${base}/campaigns/${draft.id}/versions`
  const { key = '' } = version
  const revision = fields.get('revision') ?? String(draft.revision)
  const here = `${versions}/${key}`
  const previewed = await campaignPreview(deps, visit, { isNotice, ...saved, html, document }, as)
  const view: VersionContentView = {
    isUnsaved: wasTyped,
    id: draft.id,
    page: here,
    versions,
    key,
    name: campaignName(draft),
    revision,
    newer: newerThan(revision, draft),
    own: isOwn(version),
    blocks:
      document &&
      blockCards({
        document,
        faults: {
          ...faults,
          fields: {
            ...documentFaults(document),
            ...previewed.beside,
            ...(!wasTyped && unfinished?.faults),
            ...faults.fields,
          },
        },
        change: `${here}/preview`,
        mayWrite: true,
        pictures: await pictureChoices(read, account.id, deps.publicUrl),
        picturesPage: `${base}/pictures`,
        store: `${here}/blocks`,
        saved: await savedBlocks(read, { accountId: account.id, base }, fields),
        isNotice,
      }),
    html: isLarge ? '' : html,
    largeHtml: isLarge ? `${shown(Math.round(html.length / 1024))} KB` : undefined,
    tags: await tagMenu(read, account.id, { isCampaign: true }),
    preview: previewPart(previewed, [askedContact(as)]),
    faults,
  }
  const title = `Version ${key} of ${view.name}`
  return page('campaigns/version-content', view, {
    title,
    editor: true,
    wide: true,
    ...ofTwoWriters(view.newer, faults),
  })
}
