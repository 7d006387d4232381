import type { BlockColours, BlockDocument } from '../blocks/index.js'
import { ApiError } from '../errors/index.js'
import type { TemplateFault } from './job.js'
import { unavailable } from './render-template.js'
import type { Renderer } from './renderer.js'

/** The HTML of a document, in Liquid, or why there is none. Throws a 503 while the renderer has no room. */
export async function tryCompile(
  renderer: Renderer,
  job: { accountId: string; document: BlockDocument; brand: BlockColours },
): Promise<{ html: string } | { fault: TemplateFault }> {
  const outcome = await renderer.render(job)
  if (outcome.kind === 'unavailable') throw unavailable(outcome.cause)
  if (outcome.kind === 'failed') return { fault: outcome.fault }
  return { html: outcome.html }
}

/** The same; what makes no HTML is a 422. */
export async function compileBlocks(
  renderer: Renderer,
  job: { accountId: string; document: BlockDocument; brand: BlockColours },
): Promise<string> {
  const made = await tryCompile(renderer, job)
  if ('html' in made) return made.html
  throw new ApiError('validation_error', `The blocks cannot be used: ${made.fault.message}`, {
    status: 422,
    fields: { part: 'html' },
  })
}
