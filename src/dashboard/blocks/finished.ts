import { isDeepStrictEqual } from 'node:util'
import type { BlockDocument } from '../../blocks/index.js'
import { ShapeError } from '../../fields/index.js'
import type { Form } from '../../http/index.js'
import { besideCards } from './faulty-card.js'
import { blockNames } from './fields.js'
import {
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
}

/** What is sent while somebody writes is kept as far as it is finished, and `flash` says what is not; 'Save' refuses that. */
export async function savedOrKept<T>(
  { form, fields }: { form: { next?: string | undefined }; fields: Form },
  keep: (document: TypedDocument | undefined) => Promise<T>,
  { before, saved, within }: KeptOptions,
): Promise<{ kept: T; flash: string | undefined }> {
  const document = documentIn(fields)
  if (form.next !== 'keep') {
    return { kept: await besideCards(() => keep(document), within), flash: saved }
  }
  const { kept, unfinished } = await keepFinished(document, keep, { before, within })
  return { kept, flash: keptWithout(unfinished) }
}

/**
 * Does what keeps a document with as much of it as is finished, and resolves with the cards that are not. What is refused of
 * a card, such as a merge tag that has no end yet, leaves that card as it was.
 */
async function keepFinished<T>(
  typed: TypedDocument | undefined,
  keep: (document: TypedDocument | undefined) => Promise<T>,
  { before, within }: { before: BlockDocument | null | undefined; within: string | undefined },
): Promise<{ kept: T; unfinished: string[] }> {
  const wrong = new Set<number>()
  for (;;) {
    const part = typed && finishedPart(typed, before, wrong)
    try {
      const kept = await besideCards(() => keep(part?.document), within)
      return { kept, unfinished: part?.unfinished ?? [] }
    } catch (error) {
      const place = part?.places[refusedPlace(error)]
      if (place === undefined || wrong.has(place) || wrong.size >= mostRefused) throw error
      wrong.add(place)
    }
  }
}

/** Where at the top the block stands that was refused; -1: it was something else. */
function refusedPlace(error: unknown): number {
  const [issue] = error instanceof ShapeError ? error.issues : []
  const [, place = '-1'] = /^b\.(\d+)(?:\.|$)/.exec(issue?.path[0] ?? '') ?? []
  return Number(place)
}

/** What is told of a document that was kept without some cards; undefined where it was kept whole. */
const keptWithout = (unfinished: readonly string[]): string | undefined =>
  unfinished.length === 0
    ? undefined
    : `Kept, but for what is not finished: ${unfinished.join(', ')}`
