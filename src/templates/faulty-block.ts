import type { BlockDocument } from '../blocks/index.js'
import type { TemplateFault } from './job.js'
import { describeFault } from './render-template.js'
import type { Renderer } from './renderer.js'

/** Where in a document of blocks something is wrong. */
export interface BlockPlace {
  /** Its place as the API names it, such as `blocks.3.text`. */
  field: string
  /** The fault in one sentence, which begins with the block. */
  message: string
}

// Of a document with more pieces of Liquid nobody is told which one it is.
const mostAsked = 400

/**
 * The text of a document that has a fault, which was found in the HTML that is made of all of them; undefined where it is in
 * none by itself. Each is rendered alone, and only once the whole has failed.
 */
export async function faultyBlock(
  renderer: Renderer,
  accountId: string,
  { blocks }: BlockDocument,
  { fault, variables }: { fault: TemplateFault; variables: string | null },
): Promise<BlockPlace | undefined> {
  if (fault.kind === 'limit' || fault.part !== 'html') return undefined
  const texts = textsIn(blocks, ['blocks']).filter(({ text }) => /\{[{%]/.test(text))
  if (texts.length > mostAsked) return undefined
  const found: { path: string[]; fault: TemplateFault }[] = []
  for (const { path, text } of texts) {
    const outcome = await renderer.render({
      accountId,
      subject: { key: null, liquid: '-' },
      // With a letter before it, as a text may be empty for whom a tag is.
      html: { key: null, liquid: `-${text}` },
      text: null,
      variables,
      strict: false,
    })
    if (outcome.kind === 'unavailable') return undefined
    if (outcome.kind === 'failed') found.push({ path, fault: outcome.fault })
  }
  // What one block opens, another may close: neither of them is whole by itself.
  const alike = found.filter((one) => one.fault.message === fault.message)
  const [first] = alike.length > 0 ? alike : found.length === 1 ? found : []
  if (first === undefined) return undefined
  const { path } = first
  return {
    field: path.join('.'),
    message: describeFault(nameOf(blocks, path), { ...first.fault, part: null }),
  }
}

/** All texts of a document, with their paths in it. */
function textsIn(value: unknown, path: string[]): { path: string[]; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, part]) => textsIn(part, [...path, name]))
}

/** `Block 4 (text)`, and of one in a column `Block 2 (columns), block 1 (text) of column 2`. */
function nameOf(blocks: BlockDocument['blocks'], [, at, columns, column, inside]: string[]) {
  const block = blocks[Number(at)]
  const whole = `Block ${Number(at) + 1} (${block?.type})`
  if (block?.type !== 'columns' || columns !== 'columns') return whole
  const one = block.columns[Number(column)]?.[Number(inside)]
  return `${whole}, block ${Number(inside) + 1} (${one?.type}) of column ${Number(column) + 1}`
}
