import { ApiError } from '../errors/index.js'
import {
  copyTags,
  describeFault,
  type MergedContact,
  mergeValues,
  type Rendered,
  type Renderer,
  stranger,
  withPreviewText,
} from '../templates/index.js'

export interface BroadcastContent {
  /** Liquid, as is the HTML. */
  subject: string
  html: string
  previewText?: string | undefined
}

/** The subject of a copy for other people begins with it until somebody writes a new one. */
export const copiedSubjectMark = 'NEW SUBJECT:'

/** Whether something of a draft is still to be written. */
export const isUnwritten = ({ subject, html }: BroadcastContent) =>
  subject.trim() === '' || html.trim() === ''

/** The content for one contact: lenient, as decisions.md has it. Throws what `checkContent` does. */
export async function renderFor(
  renderer: Renderer,
  accountId: string,
  { subject, html, previewText }: BroadcastContent,
  contact: MergedContact,
): Promise<Rendered> {
  const outcome = await renderer.render({
    accountId,
    subject: { key: null, liquid: subject },
    html: { key: null, liquid: withPreviewText(html, previewText) },
    text: null,
    variables: JSON.stringify(Object.assign(mergeValues(contact), copyTags)),
    strict: false,
  })
  if (outcome.kind === 'rendered') return outcome.rendered
  if (outcome.kind === 'failed') {
    const { part, line, column } = outcome.fault
    throw new ApiError('validation_error', describeFault('The campaign', outcome.fault), {
      status: 422,
      fields: { part, ...(line === undefined ? {} : { line, column }) },
    })
  }
  throw new ApiError(
    'service_unavailable',
    'Campaigns cannot be rendered right now; try again in a minute',
    {
      headers: { 'retry-after': '5' },
    },
  )
}

/**
 * Refuses with a 422 what does not render even for somebody of whom nothing is known, and resolves
 * with what it is for them.
 */
export const checkContent = (renderer: Renderer, accountId: string, content: BroadcastContent) =>
  renderFor(renderer, accountId, content, stranger)
