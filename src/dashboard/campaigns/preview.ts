import { renderFor } from '../../broadcasts/index.js'
import { findContact } from '../../contacts/index.js'
import { ApiError } from '../../errors/index.js'
import { textOfHtml } from '../../mime/index.js'
import { asTags, stranger } from '../../templates/index.js'
import { htmlOfTyped } from '../blocks/compiled.js'
import { finishedPart } from '../blocks/finished.js'
import { type TypedDocument, tryDocument } from '../blocks/form.js'
import { gmailClipBytes } from '../sandbox/mail-check.js'
import { mostLookedAt } from './content-checks.js'
import type { CampaignPageDeps } from './deps.js'

/** A campaign as somebody will see it. */
export interface CampaignPreview {
  fault: string | undefined
  mail:
    | {
        subject: string
        snippet: string
        text: string
        frame: string
        size: number
        clipped: boolean
      }
    | undefined
  /** Whose data are in it. */
  whose: string
}

const snippetLength = 140
// Of a longer text the page shows the beginning.
const shownText = 20_000
const tooLong = '(too long to be shown as text)'

/** For a contact of this address, or for somebody of whom nothing is known. */
export async function campaignPreview(
  deps: CampaignPageDeps,
  { account, base }: { account: { id: string }; base: string },
  typed: {
    subject: string
    html: string
    previewText: string
    document: TypedDocument | undefined
  },
  as: string,
): Promise<CampaignPreview> {
  const { store, renderer, rendered } = deps
  const found = as === '' ? undefined : await findContact(store.read, account.id, as)
  const contact = found && { ...found, metadata: JSON.stringify(found.metadata) }
  const whose = found?.email ?? 'somebody of whom nothing is known'
  const made =
    typed.document === undefined ? typed : await htmlOfTyped(deps, account.id, typed.document)
  if (made.html === undefined) {
    const fault = 'fault' in made ? made.fault?.message : undefined
    return { fault, mail: undefined, whose }
  }
  const blocks = typed.document && tryDocument(finishedPart(typed.document, undefined).document)
  const draft = { ...typed, html: made.html, blocks }
  if (draft.html.trim() === '') return { fault: undefined, mail: undefined, whose }
  try {
    const subject = draft.subject.trim() === '' ? '-' : draft.subject
    const given = { ...draft, subject }
    const mail = await renderFor(renderer, account.id, given, contact ?? stranger)
    const html = asTags(mail.html)
    const text = html.length > mostLookedAt ? tooLong : textOfHtml(html).text
    const size = Buffer.byteLength(html)
    const words = draft.previewText.trim() === '' ? text : draft.previewText
    return {
      fault: undefined,
      whose,
      mail: {
        subject: draft.subject.trim() === '' ? '(no subject yet)' : mail.subject,
        snippet: words.replace(/\s+/g, ' ').trim().slice(0, snippetLength),
        text: text.length > shownText ? `${text.slice(0, shownText)}\n… and more` : text,
        frame: `${base}/templates/-/rendered/${rendered.keep(account.id, html)}`,
        size,
        clipped: size > gmailClipBytes,
      },
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { fault: error.message, mail: undefined, whose }
  }
}
