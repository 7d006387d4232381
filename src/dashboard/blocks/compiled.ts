import type { Store } from '../../store/index.js'
import { type Renderer, type TemplateFault, tryCompile } from '../../templates/index.js'
import { finishedPart } from './finished.js'
import { type TypedDocument, tryDocument } from './form.js'

/** The HTML of what is typed, without cards that are not finished; without it a fault, or none where the cards tell what is wrong. Throws a 503. */
export async function htmlOfTyped(
  deps: { store: Pick<Store, 'read'>; renderer: Renderer },
  accountId: string,
  typed: TypedDocument,
): Promise<{ html: string } | { html: undefined; fault: TemplateFault | undefined }> {
  const document = tryDocument(finishedPart(typed, undefined).document)
  if (document === undefined) return { html: undefined, fault: undefined }
  const made = await tryCompile(deps, accountId, document)
  return 'html' in made ? made : { html: undefined, fault: made.fault }
}
