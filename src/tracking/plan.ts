import { trackableLinks } from './links.js'
import { trackedTarget } from './target.js'

/** A body that is read: its bytes around the tracked links, and where each of those leads. */
export interface Plan {
  /** One more than `links`: what stands before, between and behind them. */
  pieces: readonly string[]
  /** Of each link the place of its target in `targets`. */
  links: readonly number[]
  /** Different ones, in the order in which they first appear. */
  targets: readonly string[]
}

// Each recipient's copy signs every target: so many take 10 ms. Further links are left as they are.
const maxTargets = 1_000

/** Reads a body once for all its recipients. */
export function planOf(html: string, own: ReadonlySet<string>): Plan {
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
  { pieces, links, targets }: Plan,
  urlOf: (target: string) => string,
): string {
  const urls = targets.map(urlOf)
  let html = pieces[0] ?? ''
  for (const [index, place] of links.entries()) html += `${urls[place]}${pieces[index + 1]}`
  return html
}
