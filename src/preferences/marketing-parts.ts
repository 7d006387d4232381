import { escapeHtml, placesIn, textOfHtml } from '../mime/index.js'
import { copyTags } from '../templates/index.js'
import { shownLinks } from './link.js'
import type { Strings } from './strings.js'

/** Which list a mail belongs to, and how one leaves it. */
interface ListIdentity {
  /** The signed link (`UnsubscribeLinks.url`). */
  url: string
  /** The domain that the mail is from. */
  domain: string
  topicId?: string | undefined
}

/** The header fields of a marketing mail, for `MessageInput.extraHeaders`; DKIM has to cover them. */
export function unsubscribeHeaders({
  url,
  domain,
  topicId,
}: ListIdentity): { name: string; value: string }[] {
  // RFC 2919 §3: a name that stays the same, within a domain of the sender's.
  const listId = `${topicId === undefined ? '' : `${topicId}.`}marketing.${domain}`
  return [
    // RFC 8058 §3.1: with One-Click this is an HTTPS URL, so production needs http.public.url.
    { name: 'List-Unsubscribe', value: `<${url}>` },
    { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
    { name: 'List-Id', value: `<${listId}>` },
  ]
}

/** The signed links of one copy. */
export interface CopyLinks {
  unsubscribeUrl: string
  preferencesUrl: string
  /** The sender's postal address, in lines; empty where the account has given none. */
  postalAddress?: string | undefined
  /** Where the recipient can see the mail in a browser; empty where they cannot. */
  viewUrl?: string | undefined
}

/** What the footer says. */
export interface Footer extends CopyLinks {
  accountName: string
  topicName?: string | undefined
}

/** Content with the copy's links where their merge tags are. */
export const withOwnLinks = (
  { html, text }: { html: string; text: string },
  links: CopyLinks,
): { html: string; text: string } => ({
  html: filled(html, links, escapeHtml),
  text: filled(text, links, (url) => url),
})

const filled = (
  text: string,
  { unsubscribeUrl, preferencesUrl, postalAddress = '', viewUrl = '' }: CopyLinks,
  print: (text: string) => string,
) =>
  text
    .replaceAll(copyTags.unsubscribe_url, () => print(unsubscribeUrl))
    .replaceAll(copyTags.preferences_url, () => print(preferencesUrl))
    .replaceAll(copyTags.postal_address, () => print(inOneLine(postalAddress)))
    .replaceAll(copyTags.view_url, () => print(viewUrl))

const inOneLine = (text: string) => text.replace(/\s*[\r\n]+\s*/g, ', ')

/** HTML for nobody in particular: its links act for nobody, and it has no footer. */
export function filledForNobody(
  html: string,
  { publicUrl, ...own }: { publicUrl: string; postalAddress: string; viewUrl: string },
): string {
  const { unsubscribe, preferences } = shownLinks(publicUrl)
  const links = { unsubscribeUrl: unsubscribe.url(), preferencesUrl: preferences.url(), ...own }
  return filled(html, links, escapeHtml).replaceAll(footerPlace, '')
}

/**
 * HTML with one `footerPlace` in it: the place of the footer, if it gets one, and of whatever else is put into a copy.
 */
export interface PlacedFooter {
  html: string
  /** Its author has put in no unsubscribe link of their own, or has asked for the footer. */
  isWanted: boolean
}

/** Holds the footer's place while links are tracked, as its merge tag does. */
export const footerPlace = copyTags.unsubscribe_footer

/**
 * Finds the footer's place: where the merge tag is shown, else the end of what is shown. The place found for one copy
 * is used for the next one with the same HTML, as most campaigns have. `made`: the text part made from the HTML, if
 * there is one: what is hidden in the HTML is not in it, and no reader sees it.
 */
export function makeFooterPlaces(): (
  html: string,
  links: CopyLinks,
  made?: string | undefined,
) => PlacedFooter {
  let latest: { source: string; placed: PlacedFooter } | undefined
  return (html, { unsubscribeUrl }, made) => {
    if (latest?.source === html) return latest.placed
    const link = escapeHtml(unsubscribeUrl)
    const isMarked = html.includes(footerPlace)
    const places = placesIn(html, {
      mark: isMarked ? footerPlace : undefined,
      link: html.includes(link) ? link : undefined,
    })
    const isFound = places.mark !== undefined || places.hasLink
    const shown = isFound ? (made ?? textOfHtml(html).text) : ''
    const mark = shown.includes(footerPlace) ? places.mark : undefined
    const at = mark ?? places.end
    // Nobody would see a footer at a tag in a comment or an attribute, and one footer is enough.
    const bare = (part: string) => (isMarked ? part.replaceAll(footerPlace, '') : part)
    const placed = {
      html: `${bare(html.slice(0, at))}${footerPlace}${bare(html.slice(at))}`,
      isWanted: mark !== undefined || !(places.hasLink && shown.includes(unsubscribeUrl)),
    }
    latest = { source: html, placed }
    return placed
  }
}

/**
 * Content with the footer. The text part is judged by itself: it gets no footer where its author put a link or a place
 * for it.
 */
export function withFooter(
  { html, isWanted, text }: PlacedFooter & { text: string },
  footer: Footer,
  strings: Strings,
): { html: string; text: string } {
  const links = [
    [strings.footerChoose, footer.preferencesUrl],
    [strings.footerLeave, footer.unsubscribeUrl],
  ] as const
  const reason = strings.footerReason(footer.accountName, footer.topicName)
  const postal = inOneLine(footer.postalAddress ?? '')
  const lines = links.map(([name, url]) => `${name}: ${url}\n`).join('')
  return {
    html: html.replace(footerPlace, () => (isWanted ? htmlFooter(reason, links, postal) : '')),
    text: withPlainFooter(
      text,
      `---\n${reason}\n${lines}${postal === '' ? '' : `${postal}\n`}`,
      footer,
    ),
  }
}

function withPlainFooter(text: string, footer: string, { unsubscribeUrl }: CopyLinks): string {
  const at = text.indexOf(footerPlace)
  if (at !== -1) {
    const before = text.slice(0, at).trimEnd()
    const behind = text.slice(at).replaceAll(footerPlace, '').trimStart()
    return `${before}\n\n${footer}${behind === '' ? '' : `\n${behind}`}`.trimStart()
  }
  return text.includes(unsubscribeUrl) ? text : `${text.trimEnd()}\n\n${footer}`
}

/** The footer, with styles on each element: many mail programs drop a style sheet. */
function htmlFooter(
  reason: string,
  links: readonly (readonly [name: string, url: string])[],
  postal: string,
) {
  const anchors = links.map(
    ([name, url]) =>
      `<a href="${escapeHtml(url)}" style="color:#595959;text-decoration:underline">${escapeHtml(name)}</a>`,
  )
  return `\n<div style="margin:24px 0 0;padding:12px 0;border-top:1px solid #d0d0d0;color:#595959;background:#ffffff;font:13px/1.5 Arial,Helvetica,sans-serif;text-align:center">${escapeHtml(reason)}<br>${anchors.join(' &middot; ')}${postal === '' ? '' : `<br>${escapeHtml(postal)}`}</div>\n`
}
