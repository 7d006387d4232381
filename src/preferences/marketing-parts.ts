import { english, type Strings } from './strings.js'

/** Which list a mail is of, and how one leaves it. */
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

/** What the footer says. */
export interface Footer {
  /** The signed links. */
  unsubscribeUrl: string
  preferencesUrl: string
  accountName: string
  topicName?: string | undefined
}

/** Content with the footer at its end; a text part that is null stays so (it is made of the HTML). */
export function withFooter<T extends string | null>(
  content: { html: string; text: T },
  footer: Footer,
  strings: Strings = english,
): { html: string; text: T } {
  const reason = strings.footerReason(footer.accountName, footer.topicName)
  const { html, text } = content
  const end = bodyEnd(html)
  const links = [
    [strings.footerChoose, footer.preferencesUrl],
    [strings.footerLeave, footer.unsubscribeUrl],
  ] as const
  const html2 = `${html.slice(0, end)}${htmlFooter(reason, links)}${html.slice(end)}`
  if (text === null) return { html: html2, text }
  const lines = links.map(([name, url]) => `${name}: ${url}\n`).join('')
  const plain = `${text.trimEnd()}\n\n---\n${reason}\n${lines}`
  return { html: html2, text: plain as T }
}

/** The footer, with its style at each element: many mail programs drop a style sheet. */
function htmlFooter(reason: string, links: readonly (readonly [name: string, url: string])[]) {
  const anchors = links.map(
    ([name, url]) =>
      `<a href="${escapeHtml(url)}" style="color:#595959;text-decoration:underline">${escapeHtml(name)}</a>`,
  )
  return `\n<div style="margin:24px 0 0;padding:12px 0;border-top:1px solid #d0d0d0;color:#595959;background:#ffffff;font:13px/1.5 Arial,Helvetica,sans-serif;text-align:center">${escapeHtml(reason)}<br>${anchors.join(' &middot; ')}</div>\n`
}

// The end of the body is among the last tags, or it is not written.
const maxClosingTags = 50

/** Where the body ends: before its last closing tag that is no part of a comment. */
export function bodyEnd(html: string): number {
  let at = html.length
  for (let tags = 0; tags < maxClosingTags && at > 0; tags++) {
    at = html.lastIndexOf('</', at - 1)
    if (at === -1) break
    // Most tags have another letter there, which costs less to see than a slice.
    if (html[at + 2] !== 'b' && html[at + 2] !== 'B') continue
    if (/^<\/body\s*>/i.test(html.slice(at, at + 50)) && !isComment(html, at)) return at
  }
  return html.length
}

/** Whether this place lies in a comment. */
const isComment = (html: string, at: number) =>
  html.lastIndexOf('<!--', at) > html.lastIndexOf('-->', at)

// The five characters that could end a text or an attribute.
const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (char) => entities[char] ?? char)
