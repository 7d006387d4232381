import { idOf } from './elements.js'
import { makeScan } from './scan.js'
import { attribute, hasAttribute, sourceOf, type Tag } from './tag.js'

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

const body = idOf('body')
const nothing = () => {}

/** Looks for these places in one pass, as browsers read HTML (HTML §13.2.5). */
export const placesIn = makePlaces()

/** One for all mails of a thread, so that it is compiled once. */
function makePlaces() {
  let html = ''
  let link: string | undefined
  let mark: string | undefined
  let nextMark = -1
  let bodyEnd: number | undefined
  let unclosed = 0
  let shownMark: number | undefined
  let hasLink = false

  const scan = makeScan(Number.POSITIVE_INFINITY, {
    text(from, to) {
      if (nextMark === -1 || mark === undefined || shownMark !== undefined) return
      if (nextMark < from) nextMark = html.indexOf(mark, from)
      if (nextMark !== -1 && nextMark < to) shownMark = nextMark
    },
    startTag(tag) {
      if (link === undefined || hasLink) return
      const { name } = tag.element
      if (name !== 'a' && name !== 'area') return
      hasLink = sourceOf(tag, attribute.href)?.trimStart().startsWith(link) === true
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

  return (
    source: string,
    asked: { mark?: string | undefined; link?: string | undefined } = {},
  ): HtmlPlaces => {
    html = source
    link = asked.link
    mark = asked.mark
    nextMark = mark === undefined ? -1 : html.indexOf(mark)
    bodyEnd = undefined
    // A `</` at the very end would begin a comment with whatever comes after it.
    unclosed = html.endsWith('</') ? html.length - 2 : html.length
    shownMark = undefined
    hasLink = false
    scan(html)
    html = ''
    return { end: bodyEnd ?? unclosed, mark: shownMark, hasLink }
  }
}

/** Where the values of all `href` stand in the source, without their quotes. */
export function hrefsIn(html: string): { start: number; end: number }[] {
  const hrefs: { start: number; end: number }[] = []
  const { href } = attribute
  const scan = makeScan(Number.POSITIVE_INFINITY, {
    startTag(tag: Tag, from) {
      if (!hasAttribute(tag, href)) return
      hrefs.push({ start: from + (tag.starts[href] ?? 0), end: from + (tag.ends[href] ?? 0) })
    },
    text: nothing,
    endTag: nothing,
    raw: nothing,
    comment: nothing,
  })
  scan(html)
  return hrefs
}

const [head, htmlElement] = [idOf('head'), idOf('html')]

/**
 * Where the content of a document begins: behind the start tag of its body, else behind its head, its `<html>` or its
 * doctype. What stands in comments and in raw text is none of these.
 */
export function contentStart(html: string): number {
  const [doctype = ''] = /^\s{0,1000}<!doctype[^>]{0,1000}>/i.exec(html) ?? []
  let start = doctype.length
  let inBody = false
  const scan = makeScan(Number.POSITIVE_INFINITY, {
    startTag({ element, source }, from) {
      if (inBody || (element.id !== body && element.id !== htmlElement)) return
      start = from + source.length
      inBody = element.id === body
    },
    endTag(element, from) {
      if (!inBody && element.id === head) start = html.indexOf('>', from) + 1
    },
    text: nothing,
    raw: nothing,
    comment: nothing,
  })
  scan(html)
  return start
}
