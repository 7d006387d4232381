import { mailLookOf } from '../accounts/index.js'
import type { BlockDocument } from '../blocks/index.js'
import { ApiError } from '../errors/index.js'
import type { Store } from '../store/index.js'
import type { TemplateFault } from './job.js'
import { withPictureWidths } from './picture-widths.js'
import { unavailable } from './render-template.js'
import type { Renderer } from './renderer.js'

interface CompileDeps {
  store: Pick<Store, 'read'>
  renderer: Renderer
}

/**
 * The HTML of a document, in Liquid, in the account's colours and language, or why there is none. Throws a 503 while the
 * renderer has no room.
 */
export async function tryCompile(
  { store: { read }, renderer }: CompileDeps,
  accountId: string,
  given: BlockDocument,
): Promise<{ html: string } | { fault: TemplateFault }> {
  const look = await mailLookOf(read, accountId)
  const document = await withPictureWidths(read, accountId, given)
  const outcome = await renderer.render({ accountId, document, ...look })
  if (outcome.kind === 'unavailable') throw unavailable(outcome.cause)
  if (outcome.kind === 'failed') return { fault: outcome.fault }
  return { html: outcome.html }
}

/** The same; a document that makes no HTML is a 422. */
export async function compileBlocks(
  deps: CompileDeps,
  accountId: string,
  document: BlockDocument,
): Promise<string> {
  const made = await tryCompile(deps, accountId, document)
  if ('html' in made) return made.html
  throw new ApiError('validation_error', `The blocks cannot be used: ${made.fault.message}`, {
    status: 422,
    fields: { part: 'html' },
  })
}
