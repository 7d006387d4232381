import { isDeepStrictEqual } from 'node:util'
import type { BlockDocument } from '../../blocks/index.js'
import { ShapeError } from '../../fields/index.js'
import type { Form } from '../../http/index.js'
import { besideCards } from './faulty-card.js'
import { blockNames } from './fields.js'
import {
  documentFaults,
  documentIn,
  isAsAdded,
  type TypedBlock,
  type TypedDocument,
  tryDocument,
  typedOf,
} from './form.js'

/*
 * A document that is kept while somebody writes it: cards that are not finished are left out or stay as they were kept
 * before, so that one of them holds up nothing else.
 */

/** What of a document can be kept. */
export interface FinishedPart {
  document: TypedDocument
  /** The cards that are not finished, as the page calls them. */
  unfinished: string[]
  /** Of each block, where it stands in what is typed. */
  places: number[]
}

/** The finished part of what is typed; `wrong` are places at the top that something else has refused. */
export function finishedPart(
  typed: TypedDocument,
  before: BlockDocument | null | undefined,
  wrong: ReadonlySet<number> = new Set(),
): FinishedPart {
  const stored = before ? typedOf(before) : { blocks: [], rest: {} }
  const look = tryDocument({ blocks: [], rest: typed.rest }) === undefined
  const unfinished = look ? ['Look of the whole mail'] : []
  const kept = finishedBlocks(typed.blocks, stored.blocks, { unfinished, wrong })
  return {
    document: {
      blocks: kept.map(({ block }) => block),
      rest: look ? stored.rest : typed.rest,
    },
    unfinished,
    places: kept.map(({ place }) => place),
  }
}

interface Walk {
  unfinished: string[]
  wrong: ReadonlySet<number>
}

function finishedBlocks(
  blocks: readonly TypedBlock[],
  stored: readonly TypedBlock[],
  { unfinished, wrong }: Walk,
): { block: TypedBlock; place: number }[] {
  const kept: { block: TypedBlock; place: number }[] = []
  // Cards that have just been added were never kept, so those behind them stood further up.
  let added = 0
  for (const [place, typed] of blocks.entries()) {
    const old = stored[place - added]
    const block = wrong.has(place) ? typed : withFinishedColumns(typed, old, unfinished)
    if (!wrong.has(place) && isFinished(block)) {
      kept.push({ block, place })
      continue
    }
    unfinished.push(`${blockNames[typed.type]} ${place + 1}`)
    if (isAsAdded(typed)) added++
    // Another card may have come to its place.
    else if (old?.type === typed.type && !blocks.some((one) => isSame(one, old))) {
      kept.push({ block: old, place })
    }
  }
  return kept
}

/** Columns keep what is finished in them. */
function withFinishedColumns(
  typed: TypedBlock,
  old: TypedBlock | undefined,
  unfinished: string[],
): TypedBlock {
  if (typed.type !== 'columns') return typed
  const before = (old?.columns as TypedBlock[][] | undefined) ?? []
  const columns = ((typed.columns as TypedBlock[][] | undefined) ?? []).map((blocks, column) => {
    const walk = { unfinished, wrong: new Set<number>() }
    return finishedBlocks(blocks, before[column] ?? [], walk).map(({ block }) => block)
  })
  return { ...typed, columns }
}

const checkedBlock = (block: TypedBlock) => tryDocument({ blocks: [block], rest: {} })?.blocks[0]
const isFinished = (block: TypedBlock) => checkedBlock(block) !== undefined
const isSame = (typed: TypedBlock, stored: TypedBlock) =>
  typed.type === stored.type && isDeepStrictEqual(checkedBlock(typed), checkedBlock(stored))

// Of a mail with more cards that are refused one by one, nothing is kept.
const mostRefused = 20

/** How a form of cards is kept: the document as it was before, and what is told when all of it was saved. */
interface KeptOptions {
  before: BlockDocument | null | undefined
  saved: string
  /** Where the document is in what is given, such as `variants.1.`. */
  within?: string
  /** What is not finished is kept beside the rest, so that 'Save' takes it too. */
  keepsAll?: boolean
}

/** Keeps a document; `unfinished` is all that was typed, where a part of it is not finished. */
type Keep<T> = (document: TypedDocument | undefined, unfinished?: UnfinishedDocument) => Promise<T>

/** A document with cards that are not finished, as it is stored beside what is (JSON). */
export interface UnfinishedDocument extends Pick<TypedDocument, 'blocks' | 'rest'> {
  /** The cards, as the page calls them. */
  names: string[]
  /** What each lacks, by the names of the form's fields. */
  faults: Record<string, string>
}

/** What is sent while somebody writes is kept as far as it is finished, and `flash` says what is not; 'Save' may refuse that. */
export async function savedOrKept<T>(
  { form, fields }: { form: { next?: string | undefined }; fields: Form },
  keep: Keep<T>,
  { before, saved, within, keepsAll = false }: KeptOptions,
): Promise<{ kept: T; flash: string | undefined }> {
  const document = documentIn(fields)
  const isSave = form.next !== 'keep'
  if (isSave && !keepsAll) {
    return { kept: await besideCards(() => keep(document), within), flash: saved }
  }
  const { kept, unfinished } = await keepFinished(document, keep, { before, within })
  if (!isSave) return { kept, flash: keptWithout(unfinished) }
  const lacks = `${saved}, but before it is sent these are to be finished: ${unfinished.join(', ')}`
  return { kept, flash: unfinished.length === 0 ? saved : lacks }
}

/**
 * Does what keeps a document with as much of it as is finished, and resolves with the cards that are not. What is refused of
 * a card, such as a merge tag that has no end yet, leaves that card as it was.
 */
async function keepFinished<T>(
  typed: TypedDocument | undefined,
  keep: Keep<T>,
  { before, within }: { before: BlockDocument | null | undefined; within: string | undefined },
): Promise<{ kept: T; unfinished: string[] }> {
  const wrong = new Set<number>()
  const refused: Record<string, string> = {}
  for (;;) {
    const part = typed && finishedPart(typed, before, wrong)
    const names = part?.unfinished ?? []
    const faults = typed && { ...documentFaults(typed, { added: true }), ...refused }
    const { blocks = [], rest = {} } = typed ?? {}
    const unfinished = names.length === 0 || !faults ? undefined : { blocks, rest, names, faults }
    try {
      const kept = await besideCards(() => keep(part?.document, unfinished), within)
      return { kept, unfinished: names }
    } catch (error) {
      const { at, after, message } = refusedPlace(error)
      const place = part?.places[at]
      if (place === undefined || wrong.has(place) || wrong.size >= mostRefused) throw error
      wrong.add(place)
      refused[`b.${place}${after}`] = message
    }
  }
}

/** Where at the top the block stands that was refused, and the rest of its field's name; -1: it was something else. */
function refusedPlace(error: unknown): { at: number; after: string; message: string } {
  const [issue] = error instanceof ShapeError ? error.issues : []
  const [, at = '-1', after = ''] = /^b\.(\d+)(|\..*)$/.exec(issue?.path[0] ?? '') ?? []
  return { at: Number(at), after, message: issue?.message ?? '' }
}

/** What a draft's page has that is not finished, as it is stored. */
export const unfinishedIn = (stored: string | null | undefined): UnfinishedDocument | undefined =>
  stored ? (JSON.parse(stored) as UnfinishedDocument) : undefined

/** What is told of a document that was kept without some cards; undefined where it was kept whole. */
const keptWithout = (unfinished: readonly string[]): string | undefined =>
  unfinished.length === 0
    ? undefined
    : `Kept, but for what is not finished: ${unfinished.join(', ')}`
