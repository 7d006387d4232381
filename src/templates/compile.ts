import { mailLookOf } from '../accounts/index.js'
import type { BlockDocument } from '../blocks/index.js'
import { ApiError } from '../errors/index.js'
import type { Store } from '../store/index.js'
import type { CompileJob, TemplateFault } from './job.js'
import { unavailable } from './render-template.js'
import type { Renderer } from './renderer.js'

/** The HTML of a document, in Liquid, or why there is none. Throws a 503 while the renderer has no room. */
export async function tryCompile(
  renderer: Renderer,
  job: CompileJob,
): Promise<{ html: string } | { fault: TemplateFault }> {
  const outcome = await renderer.render(job)
  if (outcome.kind === 'unavailable') throw unavailable(outcome.cause)
  if (outcome.kind === 'failed') return { fault: outcome.fault }
  return { html: outcome.html }
}

/** The same in the account's colours and language; a document that makes no HTML is a 422. */
export async function compileBlocks(
  { store, renderer }: { store: Pick<Store, 'read'>; renderer: Renderer },
  accountId: string,
  document: BlockDocument,
): Promise<string> {
  const look = await mailLookOf(store.read, accountId)
  const made = await tryCompile(renderer, { accountId, document, ...look })
  if ('html' in made) return made.html
  throw new ApiError('validation_error', `The blocks cannot be used: ${made.fault.message}`, {
    status: 422,
    fields: { part: 'html' },
  })
}
