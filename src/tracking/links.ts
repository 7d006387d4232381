import { htmlParser } from '../mime/index.js'

/** A link that may be tracked: where its `href` stands in the source, without quotes, and what it says. */
export interface TrackedLink {
  start: number
  end: number
  /** The value with its entities decoded; in a template with whatever braces it has. */
  target: string
}

/**
 * The links of `<a>` and `<area>` that lead to the web, or, in a template, to what is filled in;
 * those marked `data-posthorn-notrack` are left out. Reads tags alone and builds no tree: a tree of
 * 40,000 open `<div>` takes parse5 1.4 s, and four times as long for twice as many; this reads 2 MiB
 * of anything in half a second (2026-11-21).
 */
export function trackableLinks(html: string): TrackedLink[] {
  const links: TrackedLink[] = []
  let from: number | undefined = mayHaveLinks.test(html) ? 0 : undefined
  while (from !== undefined) from = readTags(html, from, links)
  return links
}

const mayHaveLinks = /<a(?:rea)?[\s/]/i
const leadsOut = /^[\t\n\f\r ]*(?:https?:|\{)/i
// HTML §13.2.6.4.7: their content is text. The tokenizer knows the others: script, style, title, ...
const rawText: ReadonlySet<string> = new Set(['iframe', 'noembed', 'noframes', 'plaintext'])

/** Adds the links from there on; where to go on behind an element of raw text, if there was one. */
function readTags(html: string, from: number, links: TrackedLink[]): number | undefined {
  const source = html.slice(from)
  let tag: OpenTag | undefined
  let attribute = noAttribute
  let goOnAt: number | undefined

  const endTag = (end: number) => {
    if (tag === undefined) return
    const { name, link, untracked } = tag
    tag = undefined
    if (link !== undefined && !untracked && leadsOut.test(link.target)) links.push(link)
    if (!rawText.has(name)) return
    tokenizer.pause()
    goOnAt = name === 'plaintext' ? undefined : endOfText(html, name, from + end)
  }

  const { QuoteType, Tokenizer } = htmlParser()
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        const name = source.slice(start, end).toLowerCase()
        tag = { name, hasLink: name === 'a' || name === 'area', untracked: false, link: undefined }
      },
      onattribname(start, end) {
        const name = tag?.hasLink ? source.slice(start, end).toLowerCase() : ''
        if (tag && name === 'data-posthorn-notrack') tag.untracked = true
        // Browsers take the first of two attributes with the same name.
        const wanted = name === 'href' && tag?.link === undefined
        attribute = wanted ? { wanted, nameEnd: end, value: '' } : noAttribute
      },
      onattribdata(start, end) {
        if (attribute.wanted) attribute.value += source.slice(start, end)
      },
      onattribentity(codePoint) {
        if (attribute.wanted) attribute.value += String.fromCodePoint(codePoint)
      },
      onattribend(quote, end) {
        if (!attribute.wanted || !tag) return
        const quotes = quote === QuoteType.Double || quote === QuoteType.Single ? 1 : 0
        const start = attribute.nameEnd + equalsAt(source, attribute.nameEnd).length + quotes
        tag.link = { start: from + start, end: from + end - quotes, target: attribute.value }
      },
      onopentagend: endTag,
      onselfclosingtag: endTag,
      onclosetag: nothing,
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onprocessinginstruction: nothing,
      ontext: nothing,
      ontextentity: nothing,
      onend: nothing,
    },
  )
  tokenizer.write(source)
  return goOnAt
}

interface OpenTag {
  name: string
  hasLink: boolean
  untracked: boolean
  /** The link of the tag's first href. */
  link: TrackedLink | undefined
}

const noAttribute = { wanted: false, nameEnd: 0, value: '' }
const nothing = () => {}

function equalsAt(html: string, at: number): string {
  const equals = /[\t\n\f\r ]*=[\t\n\f\r ]*/y
  equals.lastIndex = at
  return equals.exec(html)?.[0] ?? ''
}

/** Where the closing tag begins; undefined where the text goes on to the end. */
function endOfText(html: string, name: string, from: number): number | undefined {
  const closing = new RegExp(`</${name}[\\t\\n\\f\\r />]`, 'gi')
  closing.lastIndex = from
  return closing.exec(html)?.index
}

// The link in the mail stays below the 2,083 characters that old mail programs take, and the request
// for it below the 4 KB that the listener takes for a head.
const maxTargetLength = 1_400

/**
 * Where a link leads, as the browser would write it (so that it is ASCII and fits a header), or
 * undefined for one that is left alone: not the web, too long, with control characters, or to one of
 * `own` origins, whose links (unsubscribe, preferences) must work as they are.
 */
export function trackedTarget(raw: string, own: ReadonlySet<string>): string | undefined {
  const trimmed = raw.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '')
  if (trimmed.length > maxTargetLength || !/^https?:\/\/[^\p{Cc}]+$/iu.test(trimmed))
    return undefined
  // Not URL.canParse: once it is hot, Node 20.20 says false of `https://bücher.test/`.
  const url = URL.parse(trimmed)
  return url === null || own.has(url.origin) || !isTarget(url.href) ? undefined : url.href
}

/** Whether it is one that `trackedTarget` gives. */
export const isTarget = (target: string) =>
  target.length <= maxTargetLength && /^https?:\/\/[\x21-\x7e]+$/.test(target)

/** A body that is read: its bytes around the tracked links, and where each of those leads. */
export interface RewritePlan {
  /** One more than `links`: what stands before, between and behind them. */
  pieces: readonly string[]
  /** For each link the index of its target in `targets`. */
  links: readonly number[]
  /** Different ones, in the order in which they first appear. */
  targets: readonly string[]
}

// Each recipient's copy signs every target: so many take 10 ms. Further links are left as they are.
const maxTargets = 1_000

/** Reads a body once for all its recipients. */
export function planOf(html: string, own: ReadonlySet<string>): RewritePlan {
  const pieces: string[] = []
  const links: number[] = []
  const places = new Map<string, number>()
  let from = 0
  for (const link of trackableLinks(html)) {
    const target = trackedTarget(link.target, own)
    if (target === undefined) continue
    const place = places.get(target) ?? places.size
    if (place >= maxTargets) continue
    places.set(target, place)
    links.push(place)
    pieces.push(html.slice(from, link.start))
    from = link.end
  }
  return { pieces: [...pieces, html.slice(from)], links, targets: [...places.keys()] }
}

/** The body with each target in another spelling, all else byte for byte as it was. */
export function withLinks(
  { pieces, links, targets }: RewritePlan,
  urlOf: (target: string) => string,
): string {
  const urls = targets.map(urlOf)
  let html = pieces[0] ?? ''
  for (const [index, place] of links.entries()) html += `${urls[place]}${pieces[index + 1]}`
  return html
}
