import { scaleBand, scaleLinear } from 'd3-scale'
import { area, line } from 'd3-shape'
import { type Html, html } from './html.js'

/** One line, or one part of each bar. */
export interface ChartSeries {
  label: string
  /** The colour, as a class, because the page's policy allows no inline style. */
  tone: 'c1' | 'c2' | 'c3' | 'c4'
  /** As many as there are labels. */
  values: readonly number[]
}

export interface Chart {
  title: string
  /** The names of the points, such as `12 Nov`; the first, the middle and the last are written below. */
  labels: readonly string[]
  series: readonly ChartSeries[]
  /** `bars` stand on each other; `lines` are separate, and the first one has its area filled. */
  kind?: 'lines' | 'bars'
  /** How a value is written; whole numbers by default. */
  write?: (value: number) => string
  /** A dashed line that should not be crossed. */
  limit?: { label: string; value: number }
}

// The drawing is stretched to the page's width, but lines keep their thickness (`vector-effect`).
const width = 600
const height = 200
const mostTicks = 4

/** A drawing of figures over time, made here: it needs no script, and a table beside it says the same. */
export function chart(of: Chart): Html {
  const { title, labels, series, limit, write = (value) => value.toLocaleString('en-GB') } = of
  const stacked = of.kind === 'bars'
  const highest = Math.max(
    limit?.value ?? 0,
    ...labels.map((_, at) => heightAt(series, at, stacked)),
    0,
  )
  // With nothing to show the scale is 0 to 1, because a scale from 0 to 0 has no height.
  const up = scaleLinear([0, highest || 1], [height, 0]).nice(mostTicks)
  const ticks = highest === 0 ? [0] : up.ticks(mostTicks)
  const along = scaleBand([...labels.keys()], [0, width]).padding(stacked ? 0.2 : 0)
  const drawn = stacked ? bars(series, labels, along, up) : lines(series, along, up)
  const level = (value: number, name: string) =>
    html`<line class="${name}" x1="0" x2="${width}" y1="${round(up(value))}" y2="${round(up(value))}"/>`
  // A chart without days must not divide by zero.
  const step = width / Math.max(1, labels.length)
  return html`<figure class="chart"><figcaption>${title}</figcaption>
<div class="plot" aria-hidden="true"><ol class="up">${ticks.map((tick) => html`<li>${write(tick)}</li>`)}</ol>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">${ticks.map((tick) => level(tick, 'rule'))}${drawn}${
    limit && level(limit.value, 'limit')
  }${labels.map(
    (label, at) =>
      html`<rect class="point" x="${round(at * step)}" y="0" width="${round(step)}" height="${height}"><title>${label}: ${series
        .map((one) => `${write(one.values[at] ?? 0)} ${one.label.toLowerCase()}`)
        .join(', ')}</title></rect>`,
  )}</svg>
<ol class="along">${ends(labels).map((label) => html`<li>${label}</li>`)}</ol></div>
<ul class="legend">${series.map(({ label, tone }) => html`<li class="${tone}"><span>${label}</span></li>`)}${
    limit && html`<li class="c3"><span>${limit.label}: ${write(limit.value)}</span></li>`
  }</ul>
${sameAsTable(of, write)}</figure>`
}

/** How high the drawing reaches at one point. */
function heightAt(series: readonly ChartSeries[], at: number, stacked: boolean): number {
  const values = series.map(({ values }) => values[at] ?? 0)
  return stacked ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values)
}

type Along = ReturnType<typeof scaleBand<number>>
type Up = ReturnType<typeof scaleLinear<number, number>>

function lines(series: readonly ChartSeries[], along: Along, up: Up): Html[] {
  const middle = (at: number) => (along(at) ?? 0) + along.bandwidth() / 2
  return series.map(({ tone, values }, index) => {
    const points = [...values]
    const path = line<number>(
      (_, at) => middle(at),
      (value) => up(value),
    ).digits(1)(points)
    const below = area<number>(
      (_, at) => middle(at),
      height,
      (value) => up(value),
    ).digits(1)(points)
    return html`<g class="${tone}">${index === 0 && html`<path class="area" d="${below ?? ''}"/>`}<path class="line" d="${path ?? ''}"/></g>`
  })
}

/** Each series stands on the ones before it: `below` is how high they reach. */
function bars(
  series: readonly ChartSeries[],
  labels: readonly string[],
  along: Along,
  up: Up,
): Html[] {
  const below = labels.map(() => 0)
  return series.map(
    ({ tone, values }) =>
      html`<g class="${tone}">${values.map((value, at) => {
        const from = below[at] ?? 0
        below[at] = from + value
        if (value === 0) return undefined
        const top = up(from + value)
        return html`<rect class="bar" x="${round(along(at) ?? 0)}" y="${round(top)}" width="${round(along.bandwidth())}" height="${round(up(from) - top)}"/>`
      })}</g>`,
  )
}

/** The chart's figures as a table, because the drawing is hidden from screen readers. */
function sameAsTable({ title, labels, series }: Chart, write: (value: number) => string): Html {
  return html`<details class="same"><summary>The figures as a table</summary><div class="table-box" tabindex="0" role="region" aria-label="${title}"><table><thead><tr><th scope="col">Time</th>${series.map(
    ({ label }) => html`<th scope="col" class="number">${label}</th>`,
  )}</tr></thead><tbody>${labels.map(
    (label, at) =>
      html`<tr><th scope="row">${label}</th>${series.map(({ values }) => html`<td class="number">${write(values[at] ?? 0)}</td>`)}</tr>`,
  )}</tbody></table></div></details>`
}

/** The first, middle and last label: more would overlap on a phone. */
const ends = (labels: readonly string[]) =>
  labels.length < 3
    ? [...labels]
    : [labels[0], labels[Math.floor((labels.length - 1) / 2)], labels.at(-1)].map(
        (one) => one ?? '',
      )

/** A tenth of a unit is finer than a pixel; more digits would only make the page larger. */
const round = (value: number) => Math.round(value * 10) / 10
