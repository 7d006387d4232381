import type { BlockDocument } from '../blocks/index.js'
import type { TemplateFault } from './job.js'
import { describeFault, faultWords } from './render-template.js'
import type { Renderer } from './renderer.js'

/** Where in a document of blocks something is wrong. */
export interface BlockPlace {
  /** Its place as the API names it, such as `blocks.3.text`. */
  field: string
  /** The fault in one sentence, which begins with the block. */
  message: string
  /** The same for people. */
  says: string
}

// In a document with more pieces of Liquid, the faulty one is not looked for.
const mostAsked = 400

/**
 * The texts of a document that have a fault, after one was found in the HTML made from all of them; empty where no
 * single text has it. Each is rendered alone, and only once the whole has failed.
 */
export async function faultyBlocks(
  renderer: Renderer,
  accountId: string,
  { blocks }: BlockDocument,
  { fault, variables }: { fault: TemplateFault; variables: string | null },
): Promise<BlockPlace[]> {
  if (fault.kind === 'limit' || fault.part !== 'html') return []
  const texts = textsIn(blocks, ['blocks']).filter(({ text }) => /\{[{%]/.test(text))
  if (texts.length > mostAsked) return []
  const found: { path: string[]; fault: TemplateFault }[] = []
  for (const { path, text } of texts) {
    const outcome = await renderer.render({
      accountId,
      subject: { key: null, liquid: '-' },
      // A letter is put before the text, because the text may come out empty where a tag is empty.
      html: { key: null, liquid: `-${text}` },
      text: null,
      variables,
      strict: false,
    })
    if (outcome.kind === 'unavailable') return []
    if (outcome.kind === 'failed') found.push({ path, fault: outcome.fault })
  }
  // One block may close what another opens: neither is complete by itself.
  const sure = found.filter(
    (one) => one.fault.message === fault.message || one.fault.isOfPair === undefined,
  )
  return (found.length === 1 ? found : sure).map(({ path, fault: own }) => {
    const name = nameOf(blocks, path)
    return {
      field: path.join('.'),
      message: describeFault(name, { ...own, part: null }),
      says: faultWords(own, name),
    }
  })
}

/** The texts of a document, with the names of their blocks. */
export const blockTexts = (blocks: BlockDocument['blocks']): { where: string; text: string }[] =>
  textsIn(blocks, ['blocks']).map(({ path, text }) => ({ where: nameOf(blocks, path), text }))

/** All texts of a document, with their paths in it. */
function textsIn(value: unknown, path: string[]): { path: string[]; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, part]) => textsIn(part, [...path, name]))
}

/** `Block 4 (text)`, and for a block in a column `Block 2 (columns), block 1 (text) of column 2`. */
function nameOf(blocks: BlockDocument['blocks'], [, at, columns, column, inside]: string[]) {
  const block = blocks[Number(at)]
  const whole = `Block ${Number(at) + 1} (${block?.type})`
  if (block?.type !== 'columns' || columns !== 'columns') return whole
  const one = block.columns[Number(column)]?.[Number(inside)]
  return `${whole}, block ${Number(inside) + 1} (${one?.type}) of column ${Number(column) + 1}`
}
