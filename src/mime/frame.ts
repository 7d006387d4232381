import { escapeHtml } from './escape-html.js'

// A mail's HTML may style itself and show pictures that it carries; it loads nothing, runs nothing,
// sends no form, and is no origin of ours. Its links open in a new tab, where they are ordinary pages.
const permissions = 'allow-popups allow-popups-to-escape-sandbox'

interface FramePictures {
  /** Whoever looks at it has asked for those from elsewhere. */
  remotePictures?: boolean
  /** Where our own are served (`https://mail.example.com/pictures/`), which tell nobody anything; undefined: none are shown. */
  ownPictures?: string | undefined
}

/** The headers of a frame's document. */
export function frameHeaders({
  remotePictures = false,
  ownPictures,
}: FramePictures = {}): Record<string, string> {
  // A picture from elsewhere tells its server who reads the mail, when and from where: only on
  // request.
  const own = ownPictures === undefined ? 'data:' : `data: ${ownPictures}`
  const pictures = remotePictures ? 'data: https: http:' : own
  return {
    'Content-Security-Policy': `default-src 'none'; style-src 'unsafe-inline'; img-src ${pictures}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox ${permissions}`,
    'X-Frame-Options': 'SAMEORIGIN',
  }
}

/**
 * A frame's document, in standards mode and as wide as the screen whatever the HTML says. `language`: of its
 * words where the HTML does not say it.
 */
export function frameDocument(html: string, { title = '', language = '' } = {}): string {
  // HTML §13.2.6.4.7: of a second `html` the attributes count that the first one has not.
  const root = language === '' || saysLanguage(html) ? '' : `<html lang="${escapeHtml(language)}">`
  const wide = saysWidth.test(html) ? '' : '<meta name="viewport" content="width=device-width">'
  const own = html.replace(ownDoctype, '')
  const named = title === '' ? '' : `<title>${escapeHtml(title)}</title>`
  return `<!doctype html>${root}<meta charset="utf-8">${wide}${named}<base target="_blank">${withoutLinks(title === '' ? own : withoutTitle(own))}`
}

// A second doctype is a fault of syntax (HTML §13.2.6.4.7).
const ownDoctype = /^\s{0,100}<!doctype[^>]{0,500}>/i

/** A document has one title (HTML §4.2.2); one in a drawing of the body is none. */
function withoutTitle(html: string): string {
  const body = html.search(/<body[\s>]/i)
  const head = body === -1 ? html.slice(0, mostHead) : html.slice(0, body)
  return head.replace(ownTitle, '') + html.slice(head.length)
}

const ownTitle = /<title\b[^<>]{0,200}>[^<]{0,2000}<\/title\s{0,9}>/gi
// Of HTML that names no body.
const mostHead = 4_000

// Without it a phone shows a page that is drawn 980 pixels wide, and made small.
const saysWidth = /<meta\b[^>]{0,200}\bname\s{0,9}=\s{0,9}["']?viewport\b/i

// What older releases made of blocks says `und`, which is none (RFC 5646 §4.1).
const saysLanguage = (html: string) =>
  /<html\b[^>]{0,2000}\slang\s{0,9}=\s{0,9}["']?(?!und\b)[a-z]/i.test(html.slice(0, 4_000))

// No policy has a word for `<link rel=preconnect>` and `dns-prefetch`, by which who wrote the HTML would learn when
// and from where it is read; and a frame within could have one. All else that these do is forbidden anyway.
const withoutLinks = (html: string) =>
  html.replace(/<(?=(?:link|i?frame|object|embed|portal|fencedframe)[\s/>])/gi, '<x-')

/** Pictures that a client fetches from elsewhere when it shows the mail. */
export function hasRemotePictures(html: string): boolean {
  return /(?:src|srcset|background|poster)\s{0,9}=\s{0,9}["']?\s{0,9}(?:https?:)?\/\/|url\(\s{0,9}["']?(?:https?:)?\/\//i.test(
    html,
  )
}
