import type { BlockDocument } from '../blocks/index.js'
import { ApiError, type WrongField } from '../errors/index.js'
import { ShapeError } from '../fields/index.js'
import { type BroadcastRow, type Store, storedJson } from '../store/index.js'
import {
  compileBlocks,
  copyTags,
  describeFault,
  faultWords,
  faultyBlocks,
  type MergedContact,
  mergeValues,
  previewLiquid,
  type Rendered,
  type Renderer,
  stranger,
  type TemplateFault,
} from '../templates/index.js'

export interface BroadcastContent {
  /** In Liquid, as the HTML is. */
  subject: string
  html: string
  previewText?: string | undefined
  /** The blocks from which the HTML was made: a fault in it then names the block. */
  blocks?: BlockDocument | null | undefined
}

/** The subject of a copy for other people begins with this until somebody writes a new one. */
export const copiedSubjectMark = 'NEW SUBJECT:'

/** Whether a part of a draft is still to be written. */
export const isUnwritten = ({ subject, html }: BroadcastContent) =>
  subject.trim() === '' || html.trim() === ''

/** The given content: HTML, or the blocks from which it is made. */
export interface ContentInput {
  html?: string | undefined
  blocks?: BlockDocument | null | undefined
}

/**
 * The HTML of the given content, and its blocks. Throws a 400 for both or neither, unless it `mayBeEmpty`, a 422 for
 * blocks that make no HTML, and a 503.
 */
export async function contentOf(
  deps: { store: Pick<Store, 'read'>; renderer: Renderer },
  accountId: string,
  { html, blocks }: ContentInput,
  { mayBeEmpty = false } = {},
): Promise<{ html: string; blocks: BlockDocument | null }> {
  if (blocks && html !== undefined) throw badContent(html, 'html or blocks, and not both')
  if (blocks) return { html: await compileBlocks(deps, accountId, blocks), blocks }
  if (html === undefined && !mayBeEmpty) throw badContent(html, 'html or blocks')
  return { html: html ?? '', blocks: null }
}

function badContent(html: string | undefined, expected: string): ShapeError {
  const code = html === undefined ? 'required' : 'invalid'
  const received = html === undefined ? 'undefined' : 'string'
  const message = `${html === undefined ? 'Required. ' : ''}Expected ${expected}`
  return new ShapeError([{ code, expected, received, path: ['html'], message }])
}

/** The blocks in a campaign's row. */
export const blocksOf = ({ blocks }: Pick<BroadcastRow, 'blocks'>): BlockDocument | null =>
  (storedJson(blocks) as BlockDocument | undefined) ?? null

/** The content for one contact: lenient, by decisions.md. Throws what `checkContent` does. */
export async function renderFor(
  renderer: Renderer,
  accountId: string,
  { subject, html, previewText, blocks }: BroadcastContent,
  contact: MergedContact,
): Promise<Rendered> {
  const variables = JSON.stringify(Object.assign(mergeValues(contact), copyTags))
  const outcome = await renderer.render({
    accountId,
    subject: { key: null, liquid: subject },
    html: { key: null, liquid: html },
    preview: previewText ? { key: null, liquid: previewLiquid(previewText) } : undefined,
    text: null,
    variables,
    strict: false,
  })
  if (outcome.kind === 'rendered') return outcome.rendered
  if (outcome.kind === 'failed') {
    const written = { subject, html, previewText, blocks }
    throw await refusedContent({ renderer, accountId, variables }, written, outcome.fault)
  }
  throw new ApiError(
    'service_unavailable',
    'Campaigns cannot be rendered right now; try again in a minute',
    {
      headers: { 'retry-after': '5' },
    },
  )
}

/** What a content was rendered with. */
interface RenderedWith {
  renderer: Renderer
  accountId: string
  variables: string
}

/** A 422 that has the first fault for programs, and the faults of all parts for people. */
async function refusedContent(
  deps: RenderedWith,
  content: BroadcastContent,
  fault: TemplateFault,
): Promise<ApiError> {
  const first = await wrongTexts(deps, content, fault)
  const others: WrongField[] = []
  for (const part of textsOf(content)) {
    if (fault.kind === 'limit' || part === fault.part) continue
    const alone = await faultOfPart(deps, content, part)
    if (alone !== undefined) others.push(...(await wrongTexts(deps, content, alone)))
  }
  const { part, line, column } = fault
  const [one] = first
  const isInBlock = one?.field.startsWith('blocks.') ?? false
  const isPlaced = !isInBlock && line !== undefined
  return new ApiError('validation_error', one?.message ?? describeFault('The campaign', fault), {
    status: 422,
    fields: {
      part,
      ...(isPlaced && { line, column }),
      ...(one?.field && { field: one.field }),
    },
    slips: [...first, ...others].map((wrong) => ({
      field: wrong.field,
      says: wrong.says ?? wrong.message,
    })),
  })
}

const textsOf = ({ previewText }: BroadcastContent) =>
  previewText ? (['subject', 'previewText', 'html'] as const) : (['subject', 'html'] as const)

/** The fault of a part taken alone. */
async function faultOfPart(
  { renderer, accountId, variables }: RenderedWith,
  content: BroadcastContent,
  part: 'subject' | 'previewText' | 'html',
): Promise<TemplateFault | undefined> {
  const text = (of: typeof part) => ({ key: null, liquid: of === part ? (content[of] ?? '') : '-' })
  const preview = part === 'previewText' ? previewLiquid(content.previewText ?? '') : undefined
  const outcome = await renderer.render({
    accountId,
    subject: text('subject'),
    html: text('html'),
    preview: preview === undefined ? undefined : { key: null, liquid: preview },
    text: null,
    variables,
    strict: false,
  })
  return outcome.kind === 'failed' ? outcome.fault : undefined
}

/** The fields that have a fault: for blocks, those of their texts that are faulty by themselves. */
async function wrongTexts(
  { renderer, accountId, variables }: RenderedWith,
  { blocks }: BroadcastContent,
  fault: TemplateFault,
): Promise<WrongField[]> {
  const at = blocks ? await faultyBlocks(renderer, accountId, blocks, { fault, variables }) : []
  if (at.length > 0) return at
  const { part } = fault
  // A fault that no single block has belongs to the whole.
  if (part === null || part === 'text' || (blocks && part === 'html')) {
    return [{ field: '', message: describeFault('The campaign', fault), says: faultWords(fault) }]
  }
  return [{ field: part, message: describeFault('The campaign', fault), says: faultWords(fault) }]
}

/**
 * Refuses with a 422 a content that does not render even for somebody about whom nothing is known;
 * resolves with the content for that person.
 */
export const checkContent = (renderer: Renderer, accountId: string, content: BroadcastContent) =>
  renderFor(renderer, accountId, content, stranger)
