import type { Form } from '../../http/index.js'
import { findTemplate, type Samples, samplesOf } from '../../templates/index.js'
import { filledIn, previewOf, type TemplatePreview } from '../templates/preview.js'
import type { NewMailDeps } from './deps.js'

/** A template for a mail: the variables that it asks for, and the mail that it makes of them. */
export interface ChosenTemplate extends TemplatePreview {
  slug: string
  /** The address of its frame. */
  frame: string | undefined
}

/** The template with what was typed for it, or with its sample values. Undefined: no such template. */
export async function chosenTemplate(
  deps: NewMailDeps,
  { account, base }: { account: { id: string }; base: string },
  slug: string,
  typed: Samples | undefined,
): Promise<ChosenTemplate | undefined> {
  const { read } = deps.store
  const found = await findTemplate(read, account.id, slug).catch(() => undefined)
  if (found === undefined) return undefined
  const { subject, html, textBody } = found
  const samples = typed ?? (await samplesOf(read, account.id, slug))
  const draft = { subject, html, textBody: textBody ?? '' }
  const preview = await previewOf(deps, account.id, draft, samples)
  const frame = preview.mail && `${base}/templates/-/rendered/${preview.mail.id}`
  return { ...preview, slug, frame }
}

/** What was typed for the variables of this template; undefined where the form did not have them yet. */
export function typedFor(fields: Form, slug: string): Samples | undefined {
  if (fields.get('shown') !== slug) return undefined
  const values = fields.all('sample')
  return Object.fromEntries(fields.all('variable').map((path, at) => [path, values[at] ?? '']))
}

/** As the variables of a send: `order.id` is within `order`. */
export const variablesIn = (typed: Samples): Record<string, unknown> =>
  filledIn(Object.entries(typed).map(([path, value]) => ({ path, value })))
