import { hasRemotePictures, textOfHtml } from '../../mime/index.js'
import type { Store } from '../../store/index.js'
import {
  inboxWords,
  isCopyTag,
  maxSamples,
  previewed,
  type Rendered,
  type Renderer,
  readDraft,
  type Samples,
  type TemplateFault,
  tryRender,
} from '../../templates/index.js'
import { htmlOfTyped } from '../blocks/compiled.js'
import type { TypedDocument } from '../blocks/form.js'
import { type CardFaults, faultsOfCards } from '../blocks/typed-faults.js'
import type { RenderedPages } from './rendered.js'

/** The content of the editor's fields. */
export interface DraftTemplate {
  subject: string
  html: string
  textBody: string
  /** The blocks, from which the HTML is then made. */
  document?: TypedDocument | undefined
}

/** A draft rendered with its sample values, or why it could not be rendered. */
export interface TemplatePreview {
  /** Each variable that the draft names, with its sample value. */
  variables: { path: string; value: string }[]
  /** The number of variables for which the form has no room. */
  otherVariables: number
  fault: FaultView | undefined
  /** Which of its blocks have it, by the names of the form's fields. */
  beside?: CardFaults
  mail: TriedMail | undefined
}

/** What is wrong with a draft, and where, for the editor. */
export interface FaultView {
  /** The name of the field. */
  field: 'subject' | 'html' | 'textBody' | undefined
  where: string
  message: string
  line: number
  column: number
  /** The line with the fault. */
  excerpt: string | undefined
}

/** A draft rendered with its sample values. */
export interface TriedMail {
  subject: string
  /** What an inbox shows after the subject. */
  snippet: string
  /** The id by which the frame is found. */
  id: string
  text: string
  ownText: boolean
  size: number
  hasRemotePictures: boolean
  /** Gmail cuts longer mails (102 kB). */
  isClipped: boolean
}

const clippedBytes = 102 * 1024

interface PreviewDeps {
  store: Pick<Store, 'read'>
  renderer: Renderer
  rendered: RenderedPages
}

/** The draft with the HTML of its blocks, or a preview that says why there is none. */
async function compiledDraft(
  { store, renderer }: PreviewDeps,
  accountId: string,
  draft: DraftTemplate,
): Promise<{ draft: DraftTemplate } | { preview: TemplatePreview }> {
  if (draft.document === undefined) return { draft }
  const made = await htmlOfTyped({ store, renderer }, accountId, draft.document)
  if (made.html !== undefined) return { draft: { ...draft, html: made.html } }
  const fault = made.fault && shownFault(draft, made.fault)
  return { preview: { variables: [], otherVariables: 0, fault, mail: undefined } }
}

/** Renders a draft, saved or not, as a send would, with sample values. Throws a 503 while there is no room. */
export async function previewOf(
  deps: PreviewDeps,
  accountId: string,
  written: DraftTemplate,
  samples: Samples,
  /** Turns the HTML into what arrives; without it, tags that each copy fills in are shown as written. */
  arriving?: (html: string) => Promise<string>,
): Promise<TemplatePreview> {
  const compiled = await compiledDraft(deps, accountId, written)
  if ('preview' in compiled) return compiled.preview
  const { draft } = compiled
  const { renderer, rendered } = deps
  const { subject, html } = draft
  const unsaved = { accountId, subject, html, textBody: draft.textBody || null, versionId: null }
  const read = await readDraft(renderer, accountId, unsaved)
  // While the draft cannot be read, the fields for samples stay as they were.
  const named = read.fault === undefined ? read.paths : Object.keys(samples)
  const asked = named.filter((path) => !isCopyTag(path))
  const guessedSample = makeGuesses(`${subject}\n${html}\n${draft.textBody}`)
  const variables = asked
    .slice(0, maxSamples)
    .map((path) => ({ path, value: samples[path] ?? guessedSample(path) }))
  const shown = { variables, otherVariables: Math.max(0, asked.length - maxSamples) }
  if (read.fault !== undefined) {
    return { ...shown, ...(await faultOf(deps, accountId, draft, read.fault)), mail: undefined }
  }
  const copyTags = arriving === undefined ? 'shown' : 'kept'
  const input = { variables: filledIn(variables), copyTags } as const
  const outcome = await tryRender(renderer, unsaved, input)
  if (outcome.kind === 'failed') {
    const told = await faultOf(deps, accountId, draft, outcome.fault)
    return { ...shown, ...told, mail: undefined }
  }
  const made =
    arriving === undefined
      ? outcome.rendered
      : { ...previewed(outcome.rendered), html: await arriving(outcome.rendered.html) }
  const mail = mailView(made)
  return {
    ...shown,
    fault: undefined,
    mail: { ...mail, id: rendered.keep(accountId, made.html) },
  }
}

/** The mail's figures. A text part made from the HTML is shown as recipients get it. */
function mailView({ subject, html, text }: Rendered): Omit<TriedMail, 'id'> {
  const plain = text ?? textOfHtml(html).text
  const size = Buffer.byteLength(html)
  return {
    subject,
    text: plain,
    ownText: text !== null,
    size,
    isClipped: size > clippedBytes,
    hasRemotePictures: hasRemotePictures(html),
    snippet: inboxWords(html),
  }
}

/** `user.name` is a field of an object. A sample that is JSON becomes that value, so that lists can be shown. */
export function filledIn(
  variables: readonly { path: string; value: string }[],
): Record<string, unknown> {
  const all: Record<string, unknown> = Object.create(null)
  // `user` comes before `user.name`: the object's own sample is there first, and its fields are added to it.
  for (const { path, value } of variables.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    if (value === '') continue
    const names = path.split('.')
    const [last = ''] = names.slice(-1)
    let at = all
    for (const name of names.slice(0, -1)) {
      const found = Object.hasOwn(at, name) ? at[name] : undefined
      // Without a prototype, as a variable may be named `constructor`.
      const inside = isRecord(found) ? found : Object.create(null)
      at[name] = inside
      at = inside
    }
    if (isRecord(at[last])) continue
    at[last] = sampleValue(value)
  }
  return all
}

/** An object with fields, not a list. */
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// '007' and '1.50' stay texts: as numbers they would be printed differently.
function sampleValue(text: string): unknown {
  if (!/^\s*[[{]|^(true|false|null|-?\d+(\.\d+)?)$/.test(text)) return text
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'number' && String(value) !== text ? text : value
  } catch {
    return text
  }
}

/** A fault as the page tells it: of blocks beside the cards whose texts have it, as nobody sees the HTML that is made of them. */
async function faultOf(
  { renderer }: Pick<PreviewDeps, 'renderer'>,
  accountId: string,
  draft: DraftTemplate,
  fault: TemplateFault,
): Promise<Pick<TemplatePreview, 'fault' | 'beside'>> {
  const shown = shownFault(draft, fault)
  if (draft.document === undefined || fault.part !== 'html') return { fault: shown }
  const { says, beside } = await faultsOfCards(renderer, accountId, draft.document, fault)
  const message = says ?? shown.message
  const place = { field: undefined, where: 'Blocks', excerpt: undefined }
  return { fault: { ...shown, ...place, message }, beside }
}

const fieldOf = { subject: 'subject', html: 'html', text: 'textBody' } as const
const nameOf = {
  subject: 'Subject',
  html: 'HTML',
  text: 'Text',
  previewText: 'Preview text',
} as const
const excerptChars = 100

/** A fault with its field, and as much of its line as a page has room for. */
function shownFault(
  draft: DraftTemplate,
  { part, message, line = 0, column = 0 }: TemplateFault,
): FaultView {
  // No template has a preview text.
  const field = part === null || part === 'previewText' ? undefined : fieldOf[part]
  const source = field === undefined ? undefined : draft[field].split('\n')[line - 1]
  const start = Math.max(0, column - 1 - excerptChars / 2)
  const at = line === 0 ? '' : `, line ${line}, column ${column}`
  return {
    field,
    message,
    line,
    column,
    where: part === null ? 'The template' : nameOf[part] + at,
    excerpt: source?.slice(start, start + excerptChars),
  }
}

// Nobody writes a list with more fields by hand.
const mostFields = 50
const loop = /\{%-?\s*(?:for|tablerow)\s+([\w-]+)\s+in\s+([\w.-]+)/g
// Bounded, and only from the beginning of a word: a picture in base64 is one word of 100,000 letters.
const fieldOfItem = /(?<![\w-])([\w-]{1,64})\.([\w-]{1,64})(?![\w-])/g

/**
 * Sample values for the variables of a template, until somebody types others. `user.name` becomes 'Name'. A variable
 * that a loop goes through becomes a list with one item that has the fields used in the loop. The source is read once,
 * however many variables are asked for.
 */
export function makeGuesses(source: string): (path: string) => string {
  const itemsOf = new Map<string, Set<string>>()
  const fieldsOf = new Map<string, Set<string>>()
  for (const [, item = '', list = ''] of source.matchAll(loop)) {
    add(itemsOf, list, item)
    fieldsOf.set(item, new Set())
  }
  for (const [, item = '', field = ''] of source.matchAll(fieldOfItem)) {
    if (fieldsOf.has(item)) add(fieldsOf, item, field)
  }
  return (path) => {
    const items = [...(itemsOf.get(path) ?? [])]
    if (items.length === 0) return inWords(path)
    const fields = new Set(items.flatMap((item) => [...(fieldsOf.get(item) ?? [])]))
    const sample = [...fields].slice(0, mostFields).map((field) => [field, inWords(field)])
    const [item = ''] = items
    return JSON.stringify([sample.length === 0 ? inWords(item) : Object.fromEntries(sample)])
  }
}

/** Adds to a set that stays small, whatever the template has in it. */
function add(all: Map<string, Set<string>>, key: string, value: string): void {
  const known = all.get(key) ?? new Set()
  if (known.size < mostFields) all.set(key, known.add(value))
}

/** The last part of a path, as a name. */
function inWords(path: string): string {
  const [last = ''] = path.split('.').slice(-1)
  const words = last.replace(/[-_]+/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
