import { isDeepStrictEqual } from 'node:util'
import { type BlockDocument, type BlockType, blockDocument, maxBlocks } from '../../blocks/index.js'
import { check, type PartedIssue, ShapeError, structOf } from '../../fields/index.js'
import type { Form } from '../../http/index.js'
import { faultWords } from '../shell/fault-words.js'
import { answerIn } from './answers.js'
import { kindNamed, newBlock, questions } from './fields.js'
import { pickedIn } from './picture-words.js'
import { followed, listAt, placeIn } from './places.js'
import { type RemovedCard, removedIn } from './removed-card.js'
import { lookIn } from './whole-look.js'

/** A block as somebody has typed it: of a kind that there is, and else whatever. */
export type TypedBlock = { type: BlockType } & Record<string, unknown>

/** A document as it is typed: nothing of it is checked yet. */
export interface TypedDocument {
  blocks: TypedBlock[]
  /** Width, font and colours, which the page keeps as they are. */
  rest: Record<string, unknown>
  /** Where many are closed, the place of the one that is open. */
  open?: string | undefined
  /** Of the cards that a page had, whether they were unfolded there. */
  unfolded?: ReadonlyMap<TypedBlock, boolean> | undefined
  /** The card that was removed last, which can be put back. */
  removed?: RemovedCard | undefined
}

const isType = (word: string | undefined): word is BlockType =>
  word !== undefined && Object.hasOwn(questions, word)

/** A stored document in the form's terms. */
export const typedOf = ({ blocks, version: _, ...rest }: BlockDocument): TypedDocument => ({
  blocks: blocks as unknown as TypedBlock[],
  rest,
})

/** The document in a form's fields, after the button that was pressed; undefined where it has none. */
export function documentIn(fields: Form): TypedDocument | undefined {
  const given = fields.get('document')
  if (given === undefined) return undefined
  const unfolded = new Map<TypedBlock, boolean>()
  const blocks = blocksIn(fields, 'b', unfolded)
  const pressed = fields.get('do')
  const removed = removedIn(fields)
  const isGoing = pressed === `gone:${removed?.place}`
  const placeAfter = removed && !isGoing ? followed(blocks, removed.place) : undefined
  const open = pressed === undefined ? undefined : change(blocks, pressed, fields)
  const place = placeAfter === undefined ? removed?.place : placeAfter()
  return {
    blocks,
    rest: lookIn(fields, restIn(given)),
    open: open ?? fields.get('open'),
    unfolded,
    removed: removed && place !== undefined ? { ...removed, place } : undefined,
  }
}

function restIn(given: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(given)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

// More than a document may have, so that what is too much is refused, and is not left out in silence.
const mostRead = 2 * maxBlocks

/** The blocks whose fields begin with `at`: `b.0.type`, `b.0.text`, `b.1.0.2.type` … */
function blocksIn(fields: Form, at: string, unfolded: Map<TypedBlock, boolean>): TypedBlock[] {
  const blocks: TypedBlock[] = []
  const saysFolds = fields.get(foldsName) !== undefined
  for (let place = 0; place < mostRead; place++) {
    const here = `${at}.${place}`
    const type = fields.get(`${here}.type`)
    if (!isType(type)) break
    const closed = closedBlock(type, fields.get(`${here}.${closedName}`))
    if (closed !== undefined) {
      blocks.push(closed)
      continue
    }
    const block: TypedBlock = { type }
    if (saysFolds) unfolded.set(block, fields.get(`${here}.${foldName}`) !== undefined)
    // The page asks for no name of a block, and keeps what the API has given.
    const id = fields.get(`${here}.id`)
    if (id !== undefined) block.id = id
    for (const question of questions[type]) {
      const value = answerIn(fields, `${here}.${question.name}`, question)
      if (value !== undefined) block[question.name] = value
    }
    const picked = type === 'picture' ? pickedIn(fields, here.slice('b.'.length)) : undefined
    if (picked !== undefined) block.url = picked
    if (type === 'columns') {
      const columns = Number(fields.get(`${here}.columns`)) === 3 ? 3 : 2
      block.columns = Array.from({ length: columns }, (_, column) =>
        blocksIn(fields, `${here}.${column}`, unfolded),
      )
    }
    blocks.push(block)
  }
  return blocks
}

/** The box of a card that is ticked while the card is unfolded, which the form then sends. */
export const foldName = 'fold'

/** The field of a form whose cards have such boxes: a form without it says nothing of what is unfolded. */
export const foldsName = 'folds'

/** The field of a card that is closed: its block, as it is. */
export const closedName = 'kept'

/** The block of a closed card; undefined where it has none of this type that could be saved. */
function closedBlock(type: BlockType, given: string | undefined): TypedBlock | undefined {
  if (given === undefined) return undefined
  const { kept } = restIn(`{"kept":${given}}`)
  const document = tryDocument({ blocks: [kept as TypedBlock], rest: {} })
  const [block] = document === undefined ? [] : typedOf(document).blocks
  return block?.type === type ? block : undefined
}

/**
 * `up:3`, `down:3.0.1`, `copy:3`, `gone:3`, `add:3` (the kind is in `kind.3`), `open:3`, `move:3:5` (to
 * that place of its list); `add:` and `add:3.0.` at
 * the top. Answers where the block stands then that was changed; undefined where none was.
 */
function change(blocks: TypedBlock[], pressed: string, fields: Form): string | undefined {
  const [, deed = '', where = '', to = ''] =
    /^(up|down|copy|gone|add|open|move):([\d.]*)(?::(\d{1,3}))?$/.exec(pressed) ?? []
  // `3.0.` is the top of a column, which has no block yet.
  const place = placeIn(where)
  const list = listAt(blocks, place)
  const at = place.at(-1) ?? -1
  const block = list?.[at]
  if (list === undefined) return undefined
  const beside = (other: number) => [...place.slice(0, -1), other].join('.')
  const kind = kindNamed(fields.get(`kind.${where}`))
  if (deed === 'add' && kind !== undefined && (kind !== 'columns' || place.length < 2)) {
    list.splice(at + 1, 0, { type: kind, ...structuredClone(newBlock[kind]) })
    return beside(at + 1)
  }
  if (block === undefined) return undefined
  if (deed === 'open') return where
  if (deed === 'copy') list.splice(at + 1, 0, structuredClone(block))
  if (deed === 'copy') return beside(at + 1)
  if (deed === 'gone') list.splice(at, 1)
  if (deed === 'gone') return ''
  const target = { up: at - 1, down: at + 1, move: Number(to) }[deed]
  if (target === undefined || target < 0 || target >= list.length) return undefined
  list.splice(at, 1)
  list.splice(target, 0, block)
  return beside(target)
}

/** The document, checked; throws a `ShapeError` whose paths are the names of the form's fields. */
export function checkedDocument({ blocks, rest }: TypedDocument): BlockDocument {
  try {
    return check({ version: 1, ...rest, blocks }, structOf(blockDocument))
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    throw new ShapeError(
      error.parted.map((issue) => {
        const path = [fieldOf(issue.path)]
        const message = isNoAddress(issue) ? noAddress : isOfAll(issue) ? tooMany : undefined
        return message === undefined
          ? { ...issue, path }
          : { ...issue, path, message, misfit: undefined }
      }),
    )
  }
}

const tooMany = `A mail has at most ${maxBlocks} blocks, those in columns counted: remove some`
const isOfAll = ({ path }: PartedIssue) => path.length === 1 && path[0] === 'blocks'
const noAddress = 'There is none yet: choose or write an address that begins with https://'
const isNoAddress = ({ path, misfit }: PartedIssue) =>
  path.at(-1) === 'url' && misfit?.isMissing === true

/** The document, or undefined where something in it is wrong. */
export function tryDocument(typed: TypedDocument): BlockDocument | undefined {
  try {
    return checkedDocument(typed)
  } catch (error) {
    if (error instanceof ShapeError) return undefined
    throw error
  }
}

/**
 * What is wrong with what is typed, by the names of the form's fields; with `added` also of cards that are as they were
 * added.
 */
export function documentFaults(
  typed: TypedDocument,
  { added = false } = {},
): Record<string, string> {
  try {
    checkedDocument(typed)
    return {}
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    const isNew = (name: string) => {
      const [, ...place] = name.split('.')
      const last = place.findLastIndex((part) => /^\d+$/.test(part))
      const [at = -1, ...within] = place.slice(0, last + 1).map(Number)
      const block =
        within.length < 2
          ? typed.blocks[at]
          : listAt(typed.blocks, [at, ...within])?.[within[1] ?? -1]
      return block !== undefined && isAsAdded(block)
    }
    return Object.fromEntries(
      error.parted
        .map((issue) => [issue.path[0] ?? '', faultWords(issue)] as const)
        // Who has just added a card has done nothing wrong yet.
        .filter(([name]) => added || !isNew(name)),
    )
  }
}

/** Whether a card is still as it was added, and cannot be kept like that: it waits for an address, say. */
export const isAsAdded = (block: TypedBlock): boolean =>
  isDeepStrictEqual(filled(block), filled({ type: block.type, ...newBlock[block.type] })) &&
  tryDocument({ blocks: [block], rest: {} }) === undefined

/** The same without what a form sends of fields that are empty. */
export function filled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filled)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([, part]) => part !== '' && part !== undefined)
  return Object.fromEntries(kept.map(([name, part]) => [name, filled(part)]))
}

/** `blocks.3.columns.0.1.text` is asked for as `b.3.0.1.text`, an item of a list by its list, `width` as `look.width`. */
export function fieldOf(path: readonly string[]): string {
  const [first, ...more] = path.filter((part) => part !== 'columns')
  if (first !== 'blocks' && first !== undefined) return ['look', first, ...more].join('.')
  if (more.length === 0) return ''
  const name = more.findIndex((part) => !/^\d+$/.test(part))
  return ['b', ...(name < 0 ? more : more.slice(0, name + 1))].join('.')
}
