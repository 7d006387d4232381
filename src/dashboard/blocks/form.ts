import { type BlockDocument, type BlockType, blockDocument, maxBlocks } from '../../blocks/index.js'
import { check, ShapeError, structOf } from '../../fields/index.js'
import type { Form } from '../../http/index.js'
import { type BlockQuestion, blockNames, newBlock, questions } from './fields.js'

/** A block as somebody has typed it: of a kind that there is, and else whatever. */
export type TypedBlock = { type: BlockType } & Record<string, unknown>

/** A document as it is typed: nothing of it is checked yet. */
export interface TypedDocument {
  blocks: TypedBlock[]
  /** Width, font and colours, which the page keeps as they are. */
  rest: Record<string, unknown>
}

/** Where a block stands: `3`, or in a column `3.0.1`. */
type Place = readonly number[]

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
  const typed: TypedDocument = { blocks: blocksIn(fields, 'b'), rest: restIn(given) }
  const pressed = fields.get('do')
  if (pressed !== undefined) change(typed.blocks, pressed, fields)
  return typed
}

function restIn(given: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(given)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** The blocks whose fields begin with `at`: `b.0.type`, `b.0.text`, `b.1.0.2.type` … */
function blocksIn(fields: Form, at: string): TypedBlock[] {
  const blocks: TypedBlock[] = []
  for (let place = 0; place < maxBlocks; place++) {
    const here = `${at}.${place}`
    const type = fields.get(`${here}.type`)
    if (!isType(type)) break
    const block: TypedBlock = { type }
    for (const question of questions[type]) {
      const value = answerOf(
        question,
        (fields.get(`${here}.${question.name}`) ?? '').replace(/\r\n/g, '\n'),
      )
      if (value !== undefined) block[question.name] = value
    }
    if (type === 'columns') {
      const columns = Number(fields.get(`${here}.columns`)) === 3 ? 3 : 2
      block.columns = Array.from({ length: columns }, (_, column) =>
        blocksIn(fields, `${here}.${column}`),
      )
    }
    blocks.push(block)
  }
  return blocks
}

/** What an answer is in the document; an empty one is none, but where a text may be empty. */
function answerOf({ kind, name }: BlockQuestion, given: string): unknown {
  switch (kind) {
    case 'tick':
      return given === '' ? undefined : true
    case 'lines':
      return given.split('\n').filter((line) => line.trim() !== '')
    case 'links':
      return given
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => {
          const [, words = line.trim(), url = ''] = /^\s*(.*?)\s+(\S+)\s*$/.exec(line) ?? []
          return { name: words, url }
        })
    case 'line':
    case 'text':
    case 'code':
      return given === '' && name === 'link' ? undefined : given
    default:
      if (given === '') return undefined
      return kind === 'number' || name === 'level' ? numberOf(given) : given
  }
}

// What is no number stays a text, so that it is refused with its own words.
const numberOf = (given: string): unknown => (/^\d{1,4}$/.test(given) ? Number(given) : given)

/** `up:3`, `down:3.0.1`, `copy:3`, `gone:3`, `add:3` (the kind is in `kind.3`); `add:` and `add:3.0.` at the top. */
function change(blocks: TypedBlock[], pressed: string, fields: Form): void {
  const [, deed = '', where = ''] = /^(up|down|copy|gone|add):([\d.]*)$/.exec(pressed) ?? []
  // `3.0.` is the top of a column, which has no block yet.
  const place: Place = where.split('.').map((part) => (part === '' ? -1 : Number(part)))
  const list = listAt(blocks, place)
  const at = place.at(-1) ?? -1
  const block = list?.[at]
  if (list === undefined) return
  const kind = fields.get(`kind.${where}`)
  if (deed === 'add' && isType(kind) && (kind !== 'columns' || place.length < 2)) {
    list.splice(at + 1, 0, { type: kind, ...structuredClone(newBlock[kind]) })
  }
  if (block === undefined) return
  if (deed === 'copy') list.splice(at, 0, structuredClone(block))
  if (deed === 'gone') list.splice(at, 1)
  const other = deed === 'up' ? at - 1 : deed === 'down' ? at + 1 : -1
  const neighbour = list[other]
  if (neighbour === undefined) return
  list[other] = block
  list[at] = neighbour
}

/** The list in which a place is. */
function listAt(blocks: TypedBlock[], place: Place): TypedBlock[] | undefined {
  if (place.length < 2) return blocks
  const [at = -1, column = -1] = place
  return (blocks[at]?.columns as TypedBlock[][] | undefined)?.[column]
}

/** The document, checked; throws a `ShapeError` whose paths are the names of the form's fields. */
export function checkedDocument({ blocks, rest }: TypedDocument): BlockDocument {
  try {
    return check({ version: 1, ...rest, blocks }, structOf(blockDocument))
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    throw new ShapeError(error.issues.map((issue) => ({ ...issue, path: [fieldOf(issue.path)] })))
  }
}

/** The document, or undefined where something in it is wrong. */
export function tryDocument(typed: TypedDocument): BlockDocument | undefined {
  try {
    return checkedDocument(typed)
  } catch (error) {
    if (error instanceof ShapeError) return undefined
    throw error
  }
}

/** What is wrong with what is typed, by the names of the form's fields. */
export function documentFaults(typed: TypedDocument): Record<string, string> {
  try {
    checkedDocument(typed)
    return {}
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    return Object.fromEntries(error.issues.map(({ path, message }) => [path[0] ?? '', message]))
  }
}

/** `blocks.3.columns.0.1.text` is asked for as `b.3.0.1.text`; an item of a list by its list. */
function fieldOf(path: readonly string[]): string {
  const [first, ...more] = path.filter((part) => part !== 'columns')
  if (first !== 'blocks' || more.length === 0) return ''
  const name = more.findIndex((part) => !/^\d+$/.test(part))
  return ['b', ...(name < 0 ? more : more.slice(0, name + 1))].join('.')
}

/** A card of the page, as plain values. */
export interface BlockCard {
  /** `3`, or `3.0.1`: of its buttons, and of the id that its buttons come back to. */
  place: string
  type: BlockType
  title: string
  first: boolean
  last: boolean
  questions: { name: string; question: BlockQuestion; value: string }[]
  looks: { name: string; question: BlockQuestion; value: string }[]
  columns: { at: string; cards: BlockCard[] }[]
}

/** The cards of a document. */
export const cardsOf = (blocks: readonly TypedBlock[], at = ''): BlockCard[] =>
  blocks.map((block, index) => {
    const place = `${at}${index}`
    const asked = questions[block.type].map((question) => ({
      name: `b.${place}.${question.name}`,
      question,
      value: shownAnswer(question, block[question.name]),
    }))
    const columns = (block.columns as TypedBlock[][] | undefined) ?? []
    return {
      place,
      type: block.type,
      title: blockNames[block.type],
      first: index === 0,
      last: index === blocks.length - 1,
      questions: asked.filter(({ question }) => question.look !== true),
      looks: asked.filter(({ question }) => question.look === true),
      columns: columns.map((cards, column) => ({
        at: `${place}.${column}.`,
        cards: cardsOf(cards, `${place}.${column}.`),
      })),
    }
  })

function shownAnswer({ kind }: BlockQuestion, value: unknown): string {
  if (kind === 'tick') return value === true ? 'on' : ''
  if (kind === 'lines') return ((value as string[] | undefined) ?? []).join('\n')
  if (kind === 'links') {
    const links = (value as { name: string; url: string }[] | undefined) ?? []
    return links.map(({ name, url }) => `${name} ${url}`).join('\n')
  }
  return value === undefined ? '' : String(value)
}
