import { type Hyperlink, hyperlinksIn } from '../mime/index.js'

/**
 * The links of `<a>` and `<area>` that lead to the web, or, in a template, to what is filled in; those marked
 * `data-posthorn-notrack` are left out. It only reads tags and builds no tree: for 40,000 open `<div>` a tree takes
 * parse5 1.4 s, and four times as long for twice as many.
 */
export const trackableLinks = (html: string): Hyperlink[] =>
  hyperlinksIn(html).filter(({ target }) => leadsOut.test(target))

const leadsOut = /^[\t\n\f\r ]*(?:https?:|\{)/i

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

/** Whether the target is one that `trackedTarget` could return. */
export const isTarget = (target: string) =>
  target.length <= maxTargetLength && /^https?:\/\/[\x21-\x7e]+$/.test(target)

/** A body that was read: its bytes around the tracked links, and where each link leads. */
export interface RewritePlan {
  /** One more than `links`: the text before, between and after them. */
  pieces: readonly string[]
  /** For each link the index of its target in `targets`. */
  links: readonly number[]
  /** The different targets, in the order in which they first appear. */
  targets: readonly string[]
}

// Each recipient's copy signs every target, and so many take 10 ms. Further links are left as they are.
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
