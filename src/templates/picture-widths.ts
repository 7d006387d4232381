import type { Block, BlockDocument, SimpleBlock } from '../blocks/index.js'
import { picturesNamed } from '../pictures/index.js'
import type { Read } from '../store/index.js'

/**
 * A document in which each picture of the account that names no width has its own: enlarged to the width of the mail, a small
 * one would be blurred. Wider ones are still made as narrow as the mail, or as their column.
 */
export async function withPictureWidths(
  read: Read,
  accountId: string,
  document: BlockDocument,
): Promise<BlockDocument> {
  const urls = document.blocks
    .flatMap((block) => (block.type === 'columns' ? block.columns.flat() : [block]))
    .flatMap((block) => (block.type === 'picture' && block.width === undefined ? [block.url] : []))
  const found = await picturesNamed(read, accountId, urls)
  if (found.size === 0) return document
  const wide = (block: SimpleBlock): SimpleBlock => {
    if (block.type !== 'picture' || block.width !== undefined) return block
    const width = found.get(block.url)?.width
    return width === undefined ? block : { ...block, width }
  }
  const blocks = document.blocks.map(
    (block): Block =>
      block.type === 'columns'
        ? { ...block, columns: block.columns.map((column) => column.map(wide)) }
        : wide(block),
  )
  return { ...document, blocks }
}
