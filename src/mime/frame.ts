import { escapeHtml } from './escape-html.js'

// A mail's HTML may style itself and show pictures that it carries. It loads nothing, runs nothing,
// sends no form, and has no origin of ours. Its links open in a new tab, where they are ordinary
// pages.
const permissions = 'allow-popups allow-popups-to-escape-sandbox'

interface FramePictures {
  /** The reader has asked for remote pictures. */
  remotePictures?: boolean
  /**
   * Where our own pictures are served (`https://mail.example.com/pictures/`), which tell nobody anything; undefined:
   * none are shown.
   */
  ownPictures?: string | undefined
}

/** The headers of a frame's document. */
export function frameHeaders({
  remotePictures = false,
  ownPictures,
}: FramePictures = {}): Record<string, string> {
  // A remote picture tells its server who reads the mail, when and from where, so it loads only on
  // request.
  const own = ownPictures === undefined ? 'data:' : `data: ${ownPictures}`
  const pictures = remotePictures ? 'data: https: http:' : own
  return {
    'Content-Security-Policy': `default-src 'none'; style-src 'unsafe-inline'; img-src ${pictures}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox ${permissions}`,
    'X-Frame-Options': 'SAMEORIGIN',
  }
}

/**
 * A frame's document, in standards mode and as wide as the screen whatever the HTML says. `language`: the
 * language of its words if the HTML does not tell it.
 */
export function frameDocument(html: string, { title = '', language = '' } = {}): string {
  // HTML §13.2.6.4.7: a second `html` adds the attributes that the first one lacks.
  const root = language === '' || saysLanguage(html) ? '' : `<html lang="${escapeHtml(language)}">`
  const wide = saysWidth.test(html) ? '' : '<meta name="viewport" content="width=device-width">'
  const own = html.replace(ownDoctype, '')
  const named = title === '' ? '' : `<title>${escapeHtml(title)}</title>`
  return `<!doctype html>${root}<meta charset="utf-8">${wide}${named}<base target="_blank">${withoutLinks(title === '' ? own : withoutTitle(own))}`
}

// A second doctype is a fault of syntax (HTML §13.2.6.4.7).
const ownDoctype = /^\s{0,100}<!doctype[^>]{0,500}>/i

/** A document has one title (HTML §4.2.2); a title inside a drawing in the body does not count. */
function withoutTitle(html: string): string {
  const body = html.search(/<body[\s>]/i)
  const head = body === -1 ? html.slice(0, mostHead) : html.slice(0, body)
  return head.replace(ownTitle, '') + html.slice(head.length)
}

const ownTitle = /<title\b[^<>]{0,200}>[^<]{0,2000}<\/title\s{0,9}>/gi
// How far the head is looked for in HTML that names no body.
const mostHead = 4_000

// Without it a phone draws the page 980 pixels wide and shrinks it.
const saysWidth = /<meta\b[^>]{0,200}\bname\s{0,9}=\s{0,9}["']?viewport\b/i

// HTML that older releases made from blocks has `und`, which is no language (RFC 5646 §4.1).
const saysLanguage = (html: string) =>
  /<html\b[^>]{0,2000}\slang\s{0,9}=\s{0,9}["']?(?!und\b)[a-z]/i.test(html.slice(0, 4_000))

// No policy can forbid `<link rel=preconnect>` and `dns-prefetch`, which would tell the HTML's writer when and from
// where it is read; an inner frame could have one too. Everything else that these elements do is forbidden anyway.
const withoutLinks = (html: string) =>
  html.replace(/<(?=(?:link|i?frame|object|embed|portal|fencedframe)[\s/>])/gi, '<x-')

/** Pictures that a client fetches from elsewhere when it shows the mail. */
export function hasRemotePictures(html: string): boolean {
  return /(?:src|srcset|background|poster)\s{0,9}=\s{0,9}["']?\s{0,9}(?:https?:)?\/\/|url\(\s{0,9}["']?(?:https?:)?\/\//i.test(
    html,
  )
}
