import { type Html, html } from '../shell/html.js'
import type { FlowGraph } from './graph.js'
import { type FlowLayout, stepHeight, stepWidth } from './layout.js'

/** What is written into a step's box. */
export interface DrawnStep {
  words: string
  /** `12 here`, or nothing. */
  figures: string
  /** To its people. */
  href: string
}

// As much as a line of a box has room for.
const perLine = 30
const lineHeight = 16

/**
 * The flow as a drawing. It is hidden from readers of the screen and has no stops for the keyboard: the outline beside it
 * is made of the same graph and says the same.
 */
export function drawing(
  graph: FlowGraph,
  layout: FlowLayout,
  steps: readonly DrawnStep[],
  /** How many went by each way, in the order of the graph's; undefined where nobody counts. */
  taken: readonly (string | undefined)[] = [],
): Html {
  const { width, height } = layout
  const lines = graph.ways.map(({ words }, at) => {
    const way = layout.ways[at]
    if (way === undefined) return undefined
    const path = way.points.map(({ x, y }, place) => `${place === 0 ? 'M' : 'L'}${x} ${y}`).join('')
    const count = taken[at]
    const told =
      count === undefined
        ? html``
        : words === undefined
          ? html`<text x="${(way.points[0]?.x ?? way.x) + 6}" y="${(way.points[0]?.y ?? way.y) + (way.points.length > 2 ? 12 : 18)}" class="c f"><title>${count} went on</title>${count}</text>`
          : html`<text x="${way.x}" y="${way.y + 5 + lineHeight}" class="c"><title>${count} went the way “${words}”</title>${count}</text>`
    return html`<path d="${path}"/>${words !== undefined && html`<text x="${way.x}" y="${way.y + 5}" class="w">${words}</text>`}${told}`
  })
  const boxes = steps.map(({ words, figures, href }, at) => {
    const { x = 0, y = 0 } = layout.steps[at] ?? {}
    const middle = x + stepWidth / 2
    const written = [...inLines(words), ...(figures === '' ? [] : [figures])]
    const top = y + stepHeight / 2 - ((written.length - 1) * lineHeight) / 2 + 5
    const texts = written.map((line, row) => {
      const isFigures = figures !== '' && row === written.length - 1
      return html`<text x="${middle}" y="${top + row * lineHeight}"${isFigures && html` class="n"`}>${line}</text>`
    })
    return html`<a href="${href}" tabindex="-1"><title>${words}</title><use href="#step" x="${x}" y="${y}"/>${texts}</a>`
  })
  return html`<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><defs><rect id="step" width="${stepWidth}" height="${stepHeight}" rx="8"/><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>
${lines}
${boxes}</svg>`
}

/** In two lines at most, broken between words. */
function inLines(words: string): string[] {
  if (words.length <= perLine) return [words]
  const at = words.lastIndexOf(' ', perLine)
  const first = words.slice(0, at > 0 ? at : perLine)
  const rest = words.slice(first.length).trim()
  return [first, rest.length > perLine ? `${rest.slice(0, perLine - 1)}…` : rest]
}
