import {
  type TemplatePlan,
  type TemplateUse,
  templatePlans,
  templateSenders,
  templateUses,
} from '../../automations/index.js'
import { verifiedDomains } from '../../domains/index.js'
import type { EmailDeps } from '../../emails/index.js'
import type { Form } from '../../http/index.js'
import { findTemplate, type Samples, samplesOf, type Template } from '../../templates/index.js'
import { blockCards } from '../blocks/cards.js'
import { firstBlocks } from '../blocks/fields.js'
import { documentFaults, documentIn, typedOf } from '../blocks/form.js'
import { withOpen } from '../blocks/open-cards.js'
import { pictureChoices } from '../blocks/picture-choices.js'
import { savedBlocks } from '../blocks/saved-part.js'
import { tagMenu } from '../blocks/tag-menu.js'
import { plural } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import type { Visit } from '../shell/visit.js'
import { type DraftTemplate, previewOf, type TemplatePreview } from './preview.js'
import type { RenderedPages } from './rendered.js'
import { type AutomationOrigin, originOf } from './way-back.js'

/** `rendered` keeps previews for as long as a frame needs to ask for them. */
export interface EditorDeps extends EmailDeps {
  rendered: RenderedPages
  /** Where the account's pictures are served. */
  publicUrl: string
}

/** The editor's page, as plain values; a new template has the same page with less on it. */
interface EditorView {
  accountId: string
  action: string
  previewAction: string
  framesAt: string
  /** Pictures from elsewhere are shown. */
  pictures: boolean
  isNew: boolean
  slug: string
  version: number
  draft: DraftTemplate
  /** The cards of its blocks; undefined where the template is HTML. */
  blocks: Html | undefined
  /** The menu of merge tags; undefined where nothing can be changed. */
  tags: Html | undefined
  preview: TemplatePreview
  faults: Faults
  mayWrite: boolean
  list: string
  duplicate: string
  versions: string
  /** The address of a new campaign that begins with the template. */
  campaign: string
  /** For a new template the page for the other kind; for one of blocks the page that makes HTML of it for good. */
  otherWay: string
  deletion: { action: string; refusal: string | undefined }
  uses: { name: string; runs: string; warnings: string[] }[]
  /** Automations that will send the template, but do not yet. */
  plans: { name: string; href: string; says: string }[]
  /** The automation from which somebody has come to write its mail. */
  origin: AutomationOrigin | undefined
  /** Undefined where nothing can be sent. */
  test: { action: string; to: string; from: string } | undefined
}

const newDocument: DraftTemplate = {
  subject: 'News from us',
  html: '',
  textBody: '',
  document: typedOf(firstBlocks),
}

/** What is shown in place of the saved version. */
interface Typed {
  draft: DraftTemplate
  samples: Samples
}

// The content of a new template: it shows a variable and a default.
const sample: DraftTemplate = {
  subject: 'Welcome, {{ name }}',
  html: `<!doctype html>
<html lang="en">
<body style="margin: 0; padding: 24px; font: 16px/1.5 sans-serif">
  <h1 style="font-size: 22px">Hello {{ name | default: "there" }}</h1>
  <p>Write here what you have to say.</p>
</body>
</html>
`,
  textBody: '',
}

/** A template that is not saved yet: an empty one, or a copy (`?from=slug`). */
export async function showNew(
  deps: EditorDeps,
  visit: Visit,
  faults = noFaults,
): Promise<PageAnswer> {
  const { store } = deps
  const { account, query } = visit
  const copied = query.get('from')
  const from = copied === null ? undefined : await findTemplate(store.read, account.id, copied)
  const typed = typedIn(visit.fields)
  const fresh = query.get('with') === 'blocks' ? newDocument : sample
  const draft = typed?.draft ?? (from === undefined ? fresh : draftOf(from))
  const kept = from === undefined ? {} : await samplesOf(store.read, account.id, from.slug)
  const preview = await previewOf(deps, account.id, draft, typed?.samples ?? kept)
  const at = `${visit.base}/templates`
  const view: EditorView = {
    accountId: account.id,
    ...placesOf(at, ''),
    pictures: picturesIn(visit),
    isNew: true,
    version: 0,
    draft,
    tags: await tagMenu(store.read, account.id),
    preview,
    mayWrite: true,
    blocks: await cards(deps, visit, draft, {
      faults: besideToo(faults, preview),
      here: `${at}/-/new`,
      mayWrite: true,
    }),
    otherWay: draft.document === undefined ? `${at}/-/new?with=blocks` : `${at}/-/new`,
    action: `${at}/-/new`,
    previewAction: `${at}/-/new/preview`,
    // A slug has at most 64 characters.
    slug: visit.fields.get('slug') ?? (from === undefined ? '' : `${from.slug}-copy`.slice(0, 64)),
    faults: withFault(faults, preview),
    uses: [],
    plans: [],
    origin: undefined,
    test: undefined,
    deletion: { action: '', refusal: undefined },
  }
  return editorPage(view, from === undefined ? 'New template' : `Copy of ${from.slug}`)
}

/** A template's page: what is typed, or the version in use. */
export async function showEditor(
  deps: EditorDeps,
  visit: Visit,
  faults = noFaults,
): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, base, params, person } = visit
  const saved = await findTemplate(read, account.id, params.slug ?? '')
  const { slug, version } = saved
  const typed = typedIn(visit.fields)
  const draft = typed?.draft ?? draftOf(saved, visit.query)
  const samples = typed?.samples ?? (await samplesOf(read, account.id, slug))
  const preview = await previewOf(deps, account.id, draft, samples)
  const uses = await templateUses(read, account.id, slug)
  const plans = await templatePlans(read, account.id, slug)
  const senders = (await templateSenders(read, account.id)).get(slug) ?? []
  const [sender] = await verifiedDomains(read, account.id)
  const at = `${base}/templates`
  const view: EditorView = {
    accountId: account.id,
    ...placesOf(at, slug),
    pictures: picturesIn(visit),
    isNew: false,
    slug,
    version,
    draft,
    tags: visit.may('templates.write') ? await tagMenu(read, account.id) : undefined,
    preview,
    blocks: await cards(deps, visit, draft, {
      faults: besideToo(faults, preview),
      here: `${at}/${slug}`,
      mayWrite: visit.may('templates.write'),
    }),
    otherWay: `${at}/${slug}/to-html`,
    action: `${at}/${slug}`,
    previewAction: `${at}/${slug}/preview`,
    faults: withFault(faults, preview),
    mayWrite: visit.may('templates.write'),
    uses: uses.map(usedBy),
    plans: plans.filter(({ id }) => uses.every((use) => use.id !== id)).map(plannedBy(base)),
    origin: await originOf(read, visit),
    deletion: { action: `${at}/${slug}/delete`, refusal: refusalOf(senders) },
    test:
      sender !== undefined && visit.may('emails.send')
        ? {
            action: `${at}/${slug}/test`,
            to: person.email,
            from: visit.fields.get('from') ?? `hello@${sender}`,
          }
        : undefined,
  }
  return editorPage(view, slug)
}

const editorPage = (view: EditorView, title: string) =>
  page<EditorView>('templates/editor', view, { title, editor: true, wide: true })

const draftOf = (
  { subject, html, textBody, blocks }: Template,
  query = new URLSearchParams(),
): DraftTemplate => ({
  subject,
  html,
  textBody: textBody ?? '',
  ...(blocks !== null && { document: withOpen(typedOf(blocks), query) }),
})

/** The cards, where a draft has blocks, with faults beside their fields. */
async function cards(
  { store, publicUrl }: EditorDeps,
  { account, base, fields, may }: Visit,
  { document }: DraftTemplate,
  { faults, here, mayWrite }: { faults: Faults; here: string; mayWrite: boolean },
): Promise<Html | undefined> {
  if (document === undefined) return undefined
  return blockCards({
    document,
    change: `${here}/preview`,
    mayWrite,
    faults: { ...faults, fields: { ...documentFaults(document), ...faults.fields } },
    pictures: mayWrite ? await pictureChoices(store.read, account.id, publicUrl) : [],
    picturesPage: `${base}/pictures`,
    store: mayWrite && may('campaigns.write') ? `${here}/blocks` : undefined,
    saved: await savedBlocks(store.read, { accountId: account.id, base }, fields),
  })
}

/** The draft in the fields of a POST; undefined where there is no editor in it. */
export function typedIn(fields: Form): Typed | undefined {
  const document = documentIn(fields)
  if (document === undefined && fields.get('html') === undefined) return undefined
  const text = (name: string) => (fields.get(name) ?? '').replace(/\r\n/g, '\n')
  // The form has two parallel lists: the n-th sample belongs to the n-th variable.
  const paths = fields.all('variable')
  const values = fields.all('sample')
  const samples = Object.fromEntries(paths.map((path, at) => [path, values[at] ?? '']))
  return {
    draft: { subject: text('subject'), html: text('html'), textBody: text('textBody'), document },
    samples,
  }
}

/** Whether pictures from elsewhere are shown, which tells their servers who looks. */
const picturesIn = ({ query }: Visit) => query.get('pictures') === 'all'

/**
 * The addresses of the page's buttons and links. No slug begins with '-', so `/-/` is never a
 * template.
 */
const placesOf = (at: string, slug: string) => ({
  framesAt: `${at}/-/rendered`,
  list: at,
  duplicate: `${at}/-/new?from=${slug}`,
  versions: `${at}/${slug}/versions`,
  campaign: `${at.replace(/templates$/, 'campaigns')}/new?template=${slug}`,
})

/** With what the preview tells of cards. */
const besideToo = (faults: Faults, { beside }: TemplatePreview): Faults =>
  beside === undefined ? faults : { ...faults, fields: { ...beside, ...faults.fields } }

/** Puts the fault for which a save was refused beside its field, with its place. */
function withFault(faults: Faults, { fault }: TemplatePreview): Faults {
  if (fault?.field === undefined || faults === noFaults) return faults
  const { field, where, message } = fault
  return { ...faults, fields: { ...faults.fields, [field]: `${where}: ${message}` } }
}

const usedBy = ({ name, liveRuns, warnings }: TemplateUse) => ({
  name,
  runs: plural(liveRuns, 'live run'),
  warnings: warnings.map(({ key, error }) => `Step "${key}": ${error}`),
})

const plannedBy =
  (base: string) =>
  ({ id, name, as }: TemplatePlan): EditorView['plans'][number] => ({
    name,
    href: `${base}/automations/${id}`,
    says:
      as === 'off'
        ? 'is off: once it is turned on, it sends what you save'
        : 'has it in its draft: once that is in force, it sends what you save',
  })

/** Why the template cannot be deleted now; undefined: it can. */
function refusalOf(senders: readonly string[]): string | undefined {
  if (senders.length === 0) return undefined
  const names = senders.map((name) => `"${name}"`).join(', ')
  return `It is sent by ${names}: archive or change that, and let its runs end, before you delete the template.`
}
