import { idOf } from './elements.js'
import { makeScan, nothingTold } from './scan.js'
import { attribute, hasAttribute, sourceOf, type Tag } from './tag.js'
import { decodeValue } from './white-space.js'

/** Where something may be inserted into a mail's HTML. */
export interface HtmlPlaces {
  /**
   * The end of the visible content: before the end tag of the body, and before an unclosed tag, comment or raw text
   * that would swallow what follows.
   */
  end: number
  /** Where `mark` first occurs as visible text; undefined: nowhere. */
  mark: number | undefined
  /** Some link leads to an address that begins with `link`. */
  hasLink: boolean
}

const body = idOf('body')

/** Looks for these places in one pass, as browsers read HTML (HTML §13.2.5). */
export const placesIn = makePlaces()

/** One for all mails of a thread, so that its functions are compiled once. */
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
    ...nothingTold,
    text(from, to) {
      if (nextMark === -1 || mark === undefined || shownMark !== undefined) return
      if (nextMark < from) nextMark = html.indexOf(mark, from)
      if (nextMark !== -1 && nextMark < to) shownMark = nextMark
    },
    startTag(tag) {
      if (link === undefined || hasLink || !isLink(tag)) return
      hasLink = sourceOf(tag, attribute.href)?.trimStart().startsWith(link) === true
    },
    endTag(element, from) {
      if (element.id === body) bodyEnd = from
    },
    unclosed(from) {
      unclosed = Math.min(unclosed, from)
    },
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
    // A `</` at the very end would begin a comment with whatever follows.
    unclosed = html.endsWith('</') ? html.length - 2 : html.length
    shownMark = undefined
    hasLink = false
    scan(html)
    html = ''
    return { end: bodyEnd ?? unclosed, mark: shownMark, hasLink }
  }
}

/** The places of all `href` values in the source, without their quotes. */
export function hrefsIn(html: string): { start: number; end: number }[] {
  const hrefs: { start: number; end: number }[] = []
  const startTag = (tag: Tag, from: number) => {
    if (hasAttribute(tag, href)) hrefs.push(hrefOf(tag, from))
  }
  makeScan(Number.POSITIVE_INFINITY, { ...nothingTold, startTag })(html)
  return hrefs
}

/** A link of `<a>` or `<area>`. */
export interface Hyperlink {
  /** The place of its `href` value in the source, without quotes. */
  start: number
  end: number
  /** The value with its entities decoded; a template's braces stay in it. */
  target: string
}

/** The links of a mail, except those marked `data-posthorn-notrack`. */
export function hyperlinksIn(html: string): Hyperlink[] {
  const links: Hyperlink[] = []
  if (!mayHaveLinks.test(html)) return links
  let isPlain = false
  const startTag = (tag: Tag, from: number) => {
    // HTML §13.2.6.4.7: everything after it is text.
    if (tag.element.id === 0 && plaintext.test(tag.source)) isPlain = true
    const source = isPlain || !isLink(tag) ? undefined : sourceOf(tag, href)
    if (source === undefined || hasAttribute(tag, attribute['data-posthorn-notrack'])) return
    const { start, end } = hrefOf(tag, from)
    links.push({ start, end, target: decodeValue(source) })
  }
  makeScan(Number.POSITIVE_INFINITY, { ...nothingTold, startTag })(html)
  return links
}

const mayHaveLinks = /<a(?:rea)?[\s/]/i
const plaintext = /^plaintext[\s/>]/i
const { href } = attribute
const [a, area] = [idOf('a'), idOf('area')]
const isLink = ({ element }: Tag) => element.id === a || element.id === area

const hrefOf = ({ starts, ends }: Tag, from: number) => ({
  start: from + (starts[href] ?? 0),
  end: from + (ends[href] ?? 0),
})

const [head, htmlElement] = [idOf('head'), idOf('html')]

/**
 * Where the content of a document begins: after the start tag of its body, else after its head, its `<html>` or its
 * doctype. Tags inside comments and raw text do not count.
 */
export function contentStart(html: string): number {
  const [doctype = ''] = /^\s{0,1000}<!doctype[^>]{0,1000}>/i.exec(html) ?? []
  let start = doctype.length
  let inBody = false
  const scan = makeScan(Number.POSITIVE_INFINITY, {
    ...nothingTold,
    startTag({ element, source }, from) {
      if (inBody || (element.id !== body && element.id !== htmlElement)) return
      start = from + source.length
      inBody = element.id === body
    },
    endTag(element, from) {
      if (!inBody && element.id === head) start = html.indexOf('>', from) + 1
    },
  })
  scan(html)
  return start
}
