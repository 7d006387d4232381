import { ApiError } from '../errors/index.js'
import { describeFault, type Rendered, type Renderer } from '../templates/index.js'

export interface Content {
  /** Liquid, as is the HTML. */
  subject: string
  html: string
}

/** What is merged into a contact's mail. */
export interface MergedContact {
  email: string
  firstName: string | null
  lastName: string | null
  /** JSON. */
  metadata: string | null
}

/** Somebody of whom nothing is known. */
export const stranger: MergedContact = {
  email: 'someone@example.org',
  firstName: null,
  lastName: null,
  metadata: null,
}

/**
 * The names of merge tags: those of the contact, and each of its metadata, by itself where that is no
 * other's name and under `metadata` always.
 */
export function mergeValues({ email, firstName, lastName, metadata }: MergedContact) {
  const own: Record<string, unknown> = metadata === null ? {} : JSON.parse(metadata)
  return { ...own, metadata: own, email, firstName, lastName }
}

/** The content for one contact: lenient, as decisions.md has it. Throws what `checkContent` does. */
export async function renderFor(
  renderer: Renderer,
  accountId: string,
  { subject, html }: Content,
  contact: MergedContact,
): Promise<Rendered> {
  const outcome = await renderer.render({
    accountId,
    subject: { key: null, liquid: subject },
    html: { key: null, liquid: html },
    text: null,
    variables: JSON.stringify(mergeValues(contact)),
    strict: false,
  })
  if (outcome.kind === 'rendered') return outcome.rendered
  if (outcome.kind === 'failed') {
    const { part, line, column } = outcome.fault
    throw new ApiError('validation_error', describeFault('of the campaign', outcome.fault), {
      status: 422,
      fields: { part, ...(line === undefined ? {} : { line, column }) },
    })
  }
  throw new ApiError('service_unavailable', 'Campaigns cannot be rendered right now', {
    headers: { 'retry-after': '5' },
  })
}

/**
 * Refuses with a 422 what does not render even for somebody of whom nothing is known, and resolves
 * with what it is for them.
 */
export const checkContent = (renderer: Renderer, accountId: string, content: Content) =>
  renderFor(renderer, accountId, content, stranger)
