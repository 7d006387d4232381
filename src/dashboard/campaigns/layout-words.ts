import { type Block, type BlockDocument, layouts } from '../../blocks/index.js'

/** The words of a document that a layout brought and nobody has changed: of headings and texts, each once. */
export function layoutWords({ blocks }: BlockDocument): string[] {
  return [...new Set(wordsOf(blocks))].filter((words) => brought.has(words))
}

const wordsOf = (blocks: readonly Block[]): string[] =>
  blocks.flatMap((block) => {
    if (block.type === 'columns') return block.columns.flatMap(wordsOf)
    return block.type === 'heading' || block.type === 'text' ? [block.text] : []
  })

const brought: ReadonlySet<string> = new Set(
  layouts.flatMap(({ document }) => wordsOf(document.blocks)),
)
