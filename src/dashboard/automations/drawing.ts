import { type Html, html } from '../shell/html.js'
import type { FlowGraph } from './graph.js'
import { type FlowLayout, stepHeight, stepWidth } from './layout.js'

/** What is written into a step's box. */
export interface DrawnStep {
  words: string
  /** `12 here`, or nothing. */
  figures: string
  /** What else is said about the step, shown to whoever points at it. */
  more?: string | undefined
  /** Leads to the people at the step. */
  href: string
}

// How much fits into a line of a box, in letters of usual width.
const perLine = 30
const lineHeight = 16

/**
 * The flow as a drawing. It is hidden from screen readers and has no tab stops: the outline beside it is made of the
 * same graph and says the same.
 */
export function drawing(
  graph: FlowGraph,
  layout: FlowLayout,
  steps: readonly DrawnStep[],
  /** How many took each way, in the order of the graph's ways; undefined where nobody counts. */
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
  const boxes = steps.map(({ words, figures, more, href }, at) => {
    const { x = 0, y = 0 } = layout.steps[at] ?? {}
    const middle = x + stepWidth / 2
    const written = [...inLines(words), ...(figures === '' ? [] : [figures])]
    const top = y + stepHeight / 2 - ((written.length - 1) * lineHeight) / 2 + 5
    const texts = written.map((line, row) => {
      const isFigures = figures !== '' && row === written.length - 1
      return html`<text x="${middle}" y="${top + row * lineHeight}"${isFigures && html` class="n"`}>${line}</text>`
    })
    return html`<a href="${href}" tabindex="-1"><title>${more === undefined ? words : `${words}: ${more}`}</title><use href="#step" x="${x}" y="${y}"/>${texts}</a>`
  })
  return html`<svg aria-hidden="true" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><defs><rect id="step" width="${stepWidth}" height="${stepHeight}" rx="8"/><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>
${lines}
${boxes}</svg>`
}

/** Splits words into at most two lines, between words; a word longer than a line is cut. */
function inLines(words: string): string[] {
  const letters = [...words]
  const room = lettersIn(letters, perLine)
  if (room === letters.length) return [words]
  const at = letters.slice(0, room + 1).lastIndexOf(' ')
  if (at <= 0) return [cut(letters)]
  return [letters.slice(0, at).join(''), cut(letters.slice(at + 1))]
}

function cut(letters: readonly string[]): string {
  if (lettersIn(letters, perLine) === letters.length) return letters.join('')
  return `${letters.slice(0, lettersIn(letters, perLine - 1)).join('')}…`
}

/** How many of the letters fit into a line. */
function lettersIn(letters: readonly string[], room: number): number {
  let taken = 0
  for (const [at, letter] of letters.entries()) {
    taken += widthOf(letter)
    if (taken > room) return at
  }
  return letters.length
}

// An estimate for a usual font, as nothing here can measure it. Chinese, Japanese and Korean letters fill a square.
function widthOf(letter: string): number {
  if (
    /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]|\p{Extended_Pictographic}/u.test(
      letter,
    )
  )
    return 2
  if (/[MWmw@%—]/.test(letter)) return 1.8
  return /\p{Lu}/u.test(letter) ? 1.4 : 1
}
