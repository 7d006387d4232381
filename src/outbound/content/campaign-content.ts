import { keepNewest } from '../../bounded/index.js'
import { ApiError } from '../../errors/index.js'
import { textOfHtml } from '../../mime/index.js'
import { prepared, type Read } from '../../store/index.js'
import {
  copyTags,
  escapeMerged,
  type MergedContact,
  type MergePiece,
  mergeInto,
  mergePieces,
  mergeValues,
  previewLiquid,
  type Renderer,
  type RenderJob,
  withLinkTags,
  withPreview,
} from '../../templates/index.js'

/** A body that is merged for each recipient. */
export interface CampaignMail {
  accountId: string
  bodyId: number
  /** Liquid, like the text. A text of null is made of the HTML. */
  html: string
  text: string | null
  /** What inboxes show beside the subject; Liquid too. */
  previewText?: string | null
  /** The values to merge, where they are not those of the contact now; null: they were deleted. */
  variables?: object | null
}

/** A campaign's content as one recipient gets it. */
export type CampaignContent = (
  mail: CampaignMail,
  recipient: string,
) => Promise<{ html: string; text: string }>

/** Why a mail can never leave, as a sentence for its sender. */
export class MailFault extends Error {}

/** The body of a campaign, taken apart once for all its recipients. */
interface Compiled {
  html: string
  /** Empty: none. */
  preview: string
  /**
   * The text part's Liquid: the converted HTML, with its tags unchanged. Undefined: the text is made of the merged
   * HTML.
   */
  text: string | undefined
  /** Undefined: the body needs the engine. */
  pieces: { html: MergePiece[]; text: MergePiece[] } | undefined
}

// Bodies that are kept taken apart: few campaigns leave at the same time, and one body has at most
// 2 MiB.
const maxCompiled = 10

/** Merges simple bodies here, and leaves the others to the renderer, which starts with the first of them. */
export function makeCampaignContent(
  read: Read,
  { renderer }: { renderer: () => Renderer },
): CampaignContent {
  const compiled = new Map<number, Compiled>()

  const compiledOf = ({
    bodyId,
    html: content,
    text: own,
    previewText,
  }: CampaignMail): Compiled => {
    const known = compiled.get(bodyId)
    if (known !== undefined) return known
    const html = withLinkTags(content)
    const preview = previewText ? previewLiquid(previewText) : ''
    // Where HTML and preview have only merge tags, neither can affect the other.
    const inHtml =
      mergePieces(html) && mergePieces(preview) && mergePieces(withPreview(html, preview))
    // Conditions and loops may stand between rows and in tags: their result is known only after merging.
    const text = own ?? (inHtml && textTemplateOf(html))
    const inText = text === undefined ? undefined : mergePieces(text)
    const pieces = inHtml && inText && { html: inHtml, text: inText }
    const fresh = { html, preview, text, pieces }
    keepNewest(compiled, bodyId, fresh, maxCompiled)
    return fresh
  }

  return async (mail, recipient) => {
    const { html: source, preview, text, pieces } = compiledOf(mail)
    const [only, ...more] = pieces?.html ?? []
    // Static content needs no data of the contact.
    if (
      text !== undefined &&
      typeof only === 'string' &&
      more.length === 0 &&
      pieces?.text.length === 1
    ) {
      return { html: only, text }
    }
    const values =
      mail.variables ??
      Object.assign(mergeValues(await contactFor(read, mail.accountId, recipient)), copyTags)
    if (pieces !== undefined) {
      const html = mergeInto(pieces.html, values, escapeMerged)
      const plain = mergeInto(pieces.text, values)
      if (html !== undefined && plain !== undefined) return { html, text: plain }
    }
    return await rendered(renderer(), { mail, source, preview, text }, values)
  }
}

interface Rendering {
  mail: CampaignMail
  source: string
  preview: string
  text: string | undefined
}

/** The content by the template engine, for what merging alone cannot do. */
async function rendered(
  renderer: Renderer,
  { mail, source, preview, text }: Rendering,
  values: object,
) {
  const { accountId, bodyId } = mail
  const key = `body ${bodyId}`
  const job: Omit<RenderJob, 'text'> = {
    accountId,
    subject: { key: null, liquid: '-' },
    html: { key, liquid: source },
    preview: preview === '' ? undefined : { key, liquid: preview },
    variables: JSON.stringify(values),
    strict: false,
  }
  if (text !== undefined) {
    const own = { key, liquid: text }
    const both = await renderer.render({ ...job, text: own })
    if (both.kind === 'rendered') {
      // Tags between paragraphs leave their blank lines behind.
      const plain = (both.rendered.text ?? '').replace(/\n{3,}/g, '\n\n').trim()
      return { html: both.rendered.html, text: plain }
    }
  }
  const alone = await renderer.render({ ...job, text: null })
  if (alone.kind === 'rendered') {
    const { html } = alone.rendered
    return { html, text: textOfHtml(html).text }
  }
  if (alone.kind === 'failed') {
    throw new MailFault(`The campaign does not render: ${alone.fault.message}`)
  }
  throw new ApiError(
    'service_unavailable',
    'The campaign cannot be rendered now: too many templates wait',
  )
}

// Two characters for private use (Unicode, plane 15), which no HTML uses. They hold a tag's place while the HTML
// becomes text.
const opening = '\u{F0000}'
const closing = '\u{F0001}'

// A longer tag is converted like other text. The bound keeps the search linear where tags are opened and never
// closed.
const liquidTag = /\{\{[^{}]{0,500}\}\}|\{%[^%]{0,500}%\}/g

/** Converts HTML to text, but keeps its tags, which the converter must neither wrap nor unescape. */
function textTemplateOf(html: string): string {
  // Equal tags have one number, so that a link whose words are its target is written once.
  const tags: string[] = []
  const numbers = new Map<string, number>()
  const numberOf = (tag: string) => {
    const number = numbers.get(tag) ?? tags.push(tag) - 1
    numbers.set(tag, number)
    return number
  }
  const marked = html
    .replaceAll(opening, '')
    .replaceAll(closing, '')
    .replace(liquidTag, (tag) => `${opening}${numberOf(tag)}${closing}`)
  return textOfHtml(marked).text.replace(
    new RegExp(`${opening}(\\d+)${closing}`, 'gu'),
    (_, place) => tags[Number(place)] ?? '',
  )
}

/** What is known of the recipient: only the address if they are not a contact (any more). */
async function contactFor(
  read: Read,
  accountId: string,
  recipient: string,
): Promise<MergedContact> {
  const [contact] = await contactAt(read, { accountId, address: recipient.toLowerCase() })
  return contact ?? { email: recipient, firstName: null, lastName: null, metadata: null }
}

const contactAt = prepared<{ accountId: string; address: string }, MergedContact>(
  (db, { accountId, address }) =>
    db
      .selectFrom('contacts')
      .select(['email', 'first_name as firstName', 'last_name as lastName', 'metadata'])
      .where('account_id', '=', accountId)
      .where('address', '=', address),
)
