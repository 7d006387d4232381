import { optional, string, type } from 'superstruct'
import { readBilling } from '../../billing/index.js'
import * as operations from '../../broadcasts/contract.js'
import {
  audienceOf,
  type Broadcast,
  type BroadcastInput,
  changeDraft,
  draftVersions,
  findBroadcast,
  hoursWords,
  reachableNow,
  refuseSmallTest,
  unfinishedVersionsOf,
  type VariantTest,
  withName,
} from '../../broadcasts/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { check, structOf } from '../../fields/index.js'
import { page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { type CampaignPageDeps, withExpand } from './deps.js'
import { ledToCampaign } from './no-draft.js'
import { newerThan, ofTwoWriters } from './two-writers.js'
import { campaignName } from './words.js'

interface EditVersionsView {
  page: string
  id: string
  name: string
  revision: string
  /** Of the draft as somebody else has saved it since this page was opened. */
  newer: string | undefined
  /** What the campaign has where a version has nothing of its own. */
  usual: { subject: string; previewText: string; from: string }
  versions: VersionFields[]
  test: { share: string; decideAfter: string; by: string; ifClose: string }
  /** When it can be decided. */
  decisions: { value: string; label: string }[]
  mayAdd: boolean
  /** That they are too many for the audience. */
  small: string | undefined
  faults: Faults
}

/** The fields of the nth version, from 1 on. */
interface VersionFields {
  at: number
  key: string
  subject: string
  fromName: string
  previewText: string
  ownContent: boolean
}

const most = 5
const numbers = Array.from({ length: most }, (_, n) => n + 1)
const parts = ['key', 'subject', 'fromName', 'previewText'] as const
type Part = (typeof parts)[number]

const VersionsForm = type({
  revision: string(),
  /** The revision that somebody else has saved meanwhile, to be written over. */
  over: optional(string()),
  /** `add`, `none`, `remove-` or `content-` with the number of a version; else it is saved. */
  next: optional(string()),
  share: optional(string()),
  decideAfter: optional(string()),
  by: optional(string()),
  ifClose: optional(string()),
})

/** The versions of a draft: added, written and taken away, each with a button. */
export function versionPages(pages: AccountPages, deps: CampaignPageDeps): void {
  const { read } = deps.store
  const draftOf = async ({ account, params }: Pick<Visit, 'account' | 'params'>) => {
    const found = await findBroadcast(read, account.id, params.id ?? '')
    if (found.status === 'draft') return found
    throw new ApiError('conflict', 'Only a draft can be given other versions')
  }
  const show = async (visit: Visit, faults: Faults) => {
    const found = await findBroadcast(read, visit.account.id, visit.params.id ?? '')
    if (found.status !== 'draft') return ledToCampaign(visit, found)
    return showVersions(deps, visit, found, faults)
  }
  pages.get('/campaigns/:id/versions', 'campaigns.write', (visit) => show(visit, noFaults))
  const changing = { action: 'campaigns.write', form: VersionsForm, again: show } as const
  pages.post('/campaigns/:id/versions', changing, async (visit) => {
    const { account, base, form, fields } = visit
    const draft = await draftOf(visit)
    const { variants: before } = await draftVersions(read, draft)
    const variants = variantsOfForm(fields, form.next ?? '', before)
    const unfinished = await unfinishedVersionsOf(read, draft)
    const last = lastOfForm(fields, form.next ?? '', before)
    const own = last === undefined ? {} : asDraft(last, draft)
    const given = { variants, variantTest: testOfForm(form), ...own }
    check(given, structOf(operations.draftChanges))
    const billing = await readBilling(read, deps.plans, account.id)
    await changeDraft(withExpand(deps), billing, draft.id, given, {
      revision: Number(form.over ?? form.revision),
      unfinished: (last?.key && unfinished.get(last.key)) ?? undefined,
    })
    const isLast = Object.keys(own).length > 0
    const one = `It has one version now${isLast ? `, which is as version ${last?.key} was` : ''}`
    const flash = variants.length === 0 ? one : 'The versions are saved'
    const written = /^content-(\d)$/.exec(form.next ?? '')?.[1]
    const key = variants.find((one) => one.key === fields.get(`key${written}`)?.trim())?.key
    const versions = variants.length === 0 ? '' : '/versions'
    return redirect(
      `${base}/campaigns/${draft.id}${versions}${key === undefined ? '' : `/${key}`}`,
      {
        ...(key === undefined && { flash }),
        audit: auditOf(operations.updateBroadcast, { target: draft.id }),
      },
    )
  })
}

type Given = NonNullable<BroadcastInput['variants']>

/** The versions as they are to be; what they have of their own beside the form's fields stays. */
function variantsOfForm(fields: Visit['fields'], next: string, before: Given): Given {
  if (next === 'none') return []
  const variants = keptOfForm(fields, next, before)
  // One alone is none.
  if (next.startsWith('remove-') && variants.length < 2) return []
  const wanted = next === 'add' ? Math.max(2, variants.length + 1) : variants.length
  const free = ['A', 'B', 'C', 'D', 'E'].filter((key) => !variants.some((one) => one.key === key))
  const added = free.slice(0, wanted - variants.length).map((key) => ({ key }))
  return [...variants, ...added]
}

/** Those that were typed, but for the one that is taken away. */
function keptOfForm(fields: Visit['fields'], next: string, before: Given): Given {
  const typed = numbers.filter((at) => fields.get(nameOf('key', at)) !== undefined)
  const kept = typed.filter((at) => next !== `remove-${at}`)
  return kept.map((at) => {
    const value = (part: Part) => fields.get(nameOf(part, at))?.trim() || undefined
    const key = value('key')
    const { html, blocks } = before.find((one) => one.key === key) ?? {}
    const [subject, fromName, previewText] = [
      value('subject'),
      value('fromName'),
      value('previewText'),
    ]
    return { key, subject, fromName, previewText, html, blocks }
  })
}

/** The version that stays where another one of two is taken away: it is the campaign then, so that nothing of it is lost. */
function lastOfForm(
  fields: Visit['fields'],
  next: string,
  before: Given,
): Given[number] | undefined {
  if (!next.startsWith('remove-')) return undefined
  const [last, ...others] = keptOfForm(fields, next, before)
  return others.length === 0 ? last : undefined
}

/** What a version has of its own, as a draft's. */
function asDraft(
  { subject, fromName, previewText, html, blocks }: Given[number],
  { from_header }: Broadcast,
) {
  return {
    ...(subject && { subject }),
    ...(fromName && { from: withName(from_header, fromName) }),
    ...(previewText && { previewText }),
    ...(blocks ? { blocks } : html && { html }),
  }
}

const nameOf = (part: Part, at: number) => `${part}${at}`

/** As the API takes it; what is no number it refuses with what it expects. */
function testOfForm(form: typeof VersionsForm.TYPE): BroadcastInput['variantTest'] {
  const { share = '', decideAfter = '', by, ifClose } = form
  return {
    ...(share !== '' && { share: Number(share) }),
    ...(decideAfter !== '' && {
      decideAfter: decideAfter === 'by hand' ? 'by hand' : Number(decideAfter),
    }),
    ...(by !== undefined && { by: by as 'clicks' | 'opens' }),
    ...(ifClose !== undefined && { ifClose: ifClose as 'control' | 'wait' }),
  }
}

async function showVersions(
  deps: CampaignPageDeps,
  { base, fields }: Visit,
  draft: Broadcast,
  faults: Faults,
) {
  const { variants, test } = await draftVersions(deps.store.read, draft)
  const versions = variants.map((one, i) => {
    const shown = (part: Exclude<Part, 'key'>) => fields.get(nameOf(part, i + 1)) ?? one[part] ?? ''
    return {
      at: i + 1,
      key: one.key ?? '',
      subject: shown('subject'),
      fromName: shown('fromName'),
      previewText: shown('previewText'),
      ownContent: one.html !== undefined || one.blocks !== undefined,
    }
  })
  const revision = fields.get('revision') ?? String(draft.revision)
  const view: EditVersionsView = {
    page: `${base}/campaigns/${draft.id}`,
    id: draft.id,
    name: campaignName(draft),
    // What was typed over an older draft is refused until somebody has looked at the newer one.
    revision,
    newer: newerThan(revision, draft),
    usual: {
      subject: draft.subject,
      previewText: draft.preview_text ?? '',
      from: draft.from_header,
    },
    versions,
    test: {
      share: String(test.share),
      decideAfter: String(test.decideAfter),
      by: test.by,
      ifClose: test.ifClose,
    },
    decisions: decisionsOffered(test.decideAfter),
    mayAdd: versions.length < most,
    small: variants.length === 0 ? undefined : await smallWords(deps, draft),
    faults,
  }
  return page('campaigns/edit-versions', view, {
    title: `Versions of ${view.name}`,
    ...ofTwoWriters(view.newer, faults),
  })
}

/** When it can be decided: as most want it, and as it is. */
function decisionsOffered(now: VariantTest['decideAfter']): { value: string; label: string }[] {
  const hours = [1, 2, 4, 8, 24, 48, 168]
  if (typeof now === 'number' && !hours.includes(now)) hours.push(now)
  return [
    ...hours
      .toSorted((a, b) => a - b)
      .map((one) => ({
        value: String(one),
        label: `${hoursWords(one)} after the last mail of the test`,
      })),
    { value: 'by hand', label: 'when somebody chooses a version' },
  ]
}

/** That a test has fewer people than its versions need; undefined: it has enough, or an audience is still to be chosen. */
async function smallWords(
  { store: { read } }: CampaignPageDeps,
  draft: Broadcast,
): Promise<string | undefined> {
  const { variants, test } = await draftVersions(read, draft)
  try {
    const { reachable } = await reachableNow(read, audienceOf(draft))
    if (reachable > 0) refuseSmallTest(test, variants.length, reachable)
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.message
  }
}
