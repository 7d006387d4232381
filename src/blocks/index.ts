/**
 * The content of a mail as blocks: what a document is, and the MJML that is made of it. Pure; the compiler runs in the
 * thread that renders templates (`templates/compile.ts`).
 */
export {
  type Block,
  type BlockDocument,
  type BlockType,
  blockDocument,
  maxBlocks,
  type SimpleBlock,
} from './document.js'
export { oddMarksIn } from './inline.js'
export { layoutNamed, layouts, type MailLayout } from './layouts.js'
export { type BlockColours, type Markup, markupOf } from './markup.js'
