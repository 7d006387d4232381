import { type Element, idOf } from './elements.js'
import { scan } from './scan.js'
import { attribute, hasAttribute, type Tag } from './tag.js'

/** Where something may be put into a mail's HTML. */
export interface HtmlPlaces {
  /**
   * The end of what is shown: before the end tag of the body, and before a tag, comment or raw text that is never closed and
   * would swallow what comes after it.
   */
  end: number
  /** Where `mark` stands as text that is shown, the first time; undefined: nowhere. */
  mark: number | undefined
  /** Some link leads to an address that begins with `link`. */
  hasLink: boolean
}

/** Looks for these places in one pass, as browsers read HTML (HTML §13.2.5). */
export function placesIn(
  html: string,
  { mark, link }: { mark?: string; link?: string } = {},
): HtmlPlaces {
  let bodyEnd: number | undefined
  // A `</` at the very end would begin a comment with whatever comes after it.
  let unclosed = html.endsWith('</') ? html.length - 2 : html.length
  let nextMark = mark === undefined ? -1 : html.indexOf(mark)
  const places: HtmlPlaces = { end: html.length, mark: undefined, hasLink: false }
  scan(html, Number.POSITIVE_INFINITY, {
    text(from, to) {
      if (nextMark === -1 || mark === undefined || places.mark !== undefined) return
      if (nextMark < from) nextMark = html.indexOf(mark, from)
      if (nextMark !== -1 && nextMark < to) places.mark = nextMark
    },
    startTag(element, tag) {
      if (link === undefined || places.hasLink || !isLink(element)) return
      places.hasLink = leadsTo(html, tag, link)
    },
    endTag(element, from) {
      if (element.id === body) bodyEnd = from
    },
    unclosed(from) {
      unclosed = Math.min(unclosed, from)
    },
    raw: nothing,
    comment: nothing,
  })
  places.end = bodyEnd ?? unclosed
  return places
}

/** Where the values of all `href` stand in the source, without their quotes. */
export function hrefsIn(html: string): { start: number; end: number }[] {
  const hrefs: { start: number; end: number }[] = []
  scan(html, Number.POSITIVE_INFINITY, {
    startTag(_element, tag) {
      const place = hrefOf(tag)
      if (place !== undefined) hrefs.push(place)
    },
    text: nothing,
    endTag: nothing,
    raw: nothing,
    comment: nothing,
  })
  return hrefs
}

const body = idOf('body')
const nothing = () => {}
const isLink = ({ name }: Element) => name === 'a' || name === 'area'

function hrefOf(tag: Tag): { start: number; end: number } | undefined {
  if (!hasAttribute(tag, attribute.href)) return undefined
  return { start: tag.starts[attribute.href] ?? 0, end: tag.ends[attribute.href] ?? 0 }
}

function leadsTo(html: string, tag: Tag, link: string): boolean {
  const href = hrefOf(tag)
  return href !== undefined && html.slice(href.start, href.end).trimStart().startsWith(link)
}
