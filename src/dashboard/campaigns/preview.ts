import { oddTagsOf, renderFor } from '../../broadcasts/index.js'
import { findContact } from '../../contacts/index.js'
import { ApiError } from '../../errors/index.js'
import { textOfHtml } from '../../mime/index.js'
import { footerPlace, sampleCopy } from '../../preferences/index.js'
import { faultWords, inboxWords, stranger, withoutCopyTags } from '../../templates/index.js'
import { htmlOfTyped } from '../blocks/compiled.js'
import { finishedPart } from '../blocks/finished.js'
import { type TypedDocument, tryDocument } from '../blocks/form.js'
import { besideTyped, type CardFaults } from '../blocks/typed-faults.js'
import { gmailClipBytes } from '../sandbox/mail-check.js'
import { mostLookedAt } from './content-checks.js'
import type { CampaignPageDeps } from './deps.js'

/** A campaign as somebody will see it. */
export interface CampaignPreview {
  fault: string | undefined
  /** Which of its cards have it, by the names of the form's fields. */
  beside?: CardFaults
  /** What is odd about it, though it can be sent. */
  odd: readonly string[]
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

// Of a longer text the page shows the beginning.
const shownText = 20_000
const tooLong = '(too long to be shown as text)'

const cutText = (text: string) =>
  text.length > shownText ? `${text.slice(0, shownText)}\n… and more` : text

// Nobody's (RFC 2606 §2), so that nothing is known of it.
const nobody = 'reader@mail.invalid'

/** Marketing mail with its footer and the links of each copy, as it arrives; what is no marketing without both. */
export async function shownCopy(
  { store: { read }, publicUrl }: Pick<CampaignPageDeps, 'store' | 'publicUrl'>,
  html: string,
  {
    accountId,
    address = nobody,
    isNotice,
  }: { accountId: string; address?: string | undefined; isNotice: boolean },
): Promise<{ html: string; text: string }> {
  const isLong = html.length > mostLookedAt
  // Of a long one no text is made: the footer then is where its tag is.
  const made = isLong ? footerPlace : textOfHtml(html).text
  if (isNotice) return { html: withoutCopyTags(html), text: withoutCopyTags(made) }
  return await sampleCopy(read, { accountId, address, publicUrl }, { html, made })
}

/** All that is wrong, for people. */
const wordsOf = ({ slips, message }: ApiError): string =>
  slips.length === 0 ? message : slips.map(({ says }) => says).join(' ')

/** For a contact of this address, or for somebody of whom nothing is known. */
export async function campaignPreview(
  deps: CampaignPageDeps,
  { account, base }: { account: { id: string }; base: string },
  typed: {
    subject: string
    html: string
    previewText: string
    document: TypedDocument | undefined
    /** Everybody gets it, and it has no footer. */
    isNotice?: boolean | undefined
  },
  as: string,
): Promise<CampaignPreview> {
  const { store, renderer, rendered } = deps
  const found = as === '' ? undefined : await findContact(store.read, account.id, as)
  const contact = found && { ...found, metadata: JSON.stringify(found.metadata) }
  const unknown = 'somebody of whom nothing is known'
  const whose =
    found?.email ?? (as === '' ? unknown : `${unknown} (no contact has the address ${as})`)
  const made =
    typed.document === undefined ? typed : await htmlOfTyped(deps, account.id, typed.document)
  if (made.html === undefined) {
    const fault = 'fault' in made && made.fault ? faultWords(made.fault) : undefined
    return { fault, odd: [], mail: undefined, whose }
  }
  const blocks = typed.document && tryDocument(finishedPart(typed.document, undefined).document)
  const draft = { ...typed, html: made.html, blocks }
  if (draft.html.trim() === '') return { fault: undefined, odd: [], mail: undefined, whose }
  try {
    const subject = draft.subject.trim() === '' ? '-' : draft.subject
    const given = { ...draft, subject }
    const mail = await renderFor(renderer, account.id, given, contact ?? stranger)
    const isLong = mail.html.length > mostLookedAt
    const { html, text } = await shownCopy(deps, mail.html, {
      accountId: account.id,
      address: contact?.email,
      isNotice: typed.isNotice ?? false,
    })
    const size = Buffer.byteLength(html)
    const odd = await oddTagsOf(store.read, account.id, draft)
    return {
      fault: undefined,
      odd: odd.map(({ says }) => says),
      whose,
      mail: {
        subject: draft.subject.trim() === '' ? '(no subject yet)' : mail.subject,
        snippet: inboxWords(html),
        text: isLong ? tooLong : cutText(text),
        frame: `${base}/templates/-/rendered/${rendered.keep(account.id, html)}`,
        size,
        clipped: size > gmailClipBytes,
      },
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const beside = typed.document && besideTyped(typed.document, error.slips)
    return { fault: wordsOf(error), ...(beside && { beside }), odd: [], mail: undefined, whose }
  }
}
