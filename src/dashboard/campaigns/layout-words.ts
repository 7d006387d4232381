import { type Block, type BlockDocument, layouts } from '../../blocks/index.js'
import { firstBlocks } from '../blocks/fields.js'

/** The words of a document that a layout brought and nobody has changed: of headings and texts, each once. */
export function layoutWords({ blocks }: BlockDocument): string[] {
  const kept = wordsOf(blocks).filter((words) => brought.has(words))
  return [...new Set([...kept, ...firstWordsIn(blocks)])]
}

const wordsOf = (blocks: readonly Block[]): string[] =>
  blocks.flatMap((block) => {
    if (block.type === 'columns') return block.columns.flatMap(wordsOf)
    return block.type === 'heading' || block.type === 'text' ? [block.text] : []
  })

/** The words that a new campaign begins with where somebody is to write their own; its greeting may stay. */
const firstWords = new Set(
  firstBlocks.blocks.flatMap((block) =>
    block.type === 'text' || block.type === 'button' ? [block.text] : [],
  ),
)

const firstWordsIn = (blocks: readonly Block[]): string[] =>
  blocks.flatMap((block) => {
    if (block.type === 'columns') return block.columns.flatMap(firstWordsIn)
    const isWritten = block.type !== 'text' && block.type !== 'button'
    return isWritten || !firstWords.has(block.text) ? [] : [block.text]
  })

const brought: ReadonlySet<string> = new Set(
  layouts.flatMap(({ document }) => wordsOf(document.blocks)),
)
