import {
  catalogue,
  type Definition,
  type LabelsOf,
  type MetricName,
  type NameOf,
} from './catalogue.js'

/** The interface for everything that counts. Names, labels and units are in `catalogue.ts`. */
export interface Meter {
  count<N extends NameOf<'counter'>>(name: N, labels: LabelsOf<N>, by?: number): void
  observe<N extends NameOf<'histogram'>>(name: N, labels: LabelsOf<N>, value: number): void
  /** Sets a present value; a site without connections is 0. */
  gauge<N extends NameOf<'gauge'>>(name: N, labels: LabelsOf<N>, value: number): void
}

/** For `metrics.enabled = false`, and for tests that count nothing. */
export const silentMeter: Meter = { count() {}, observe() {}, gauge() {} }

/** One thread's counts. */
export interface Tally extends Meter {
  /** The counts since the last call, and the gauges' present values. Plain data. */
  take(): Snapshot
}

/** By metric, then by label values in the catalogue's order, joined. */
export interface Snapshot {
  readonly counts: Record<string, Record<string, number>>
  readonly histograms: Record<string, Record<string, Distribution>>
  readonly gauges: Record<string, Record<string, number>>
}

export interface Distribution {
  /** How many values fell into each bucket alone; the last bucket has all above. */
  counts: number[]
  sum: number
}

/** Between label values in a key: a character that none of them has. */
export const separator = '\u0000'
const other = 'other'
// More series of one metric would mean that some label takes what strangers write. Such a mistake
// must not cost memory, so further series are counted as `other`.
const maxSeries = 2_000

/** The catalogue's entry of a name. */
export const definitionOf = (name: string): Definition => catalogue[name as MetricName]

/**
 * A thread's counts, empty. `take` hands out the counts, which begin again at 0; gauges stay, as
 * they are present values.
 */
export function makeTally(): Tally {
  let counts = new Map<string, Map<string, number>>()
  let histograms = new Map<string, Map<string, Distribution>>()
  const gauges = new Map<string, Map<string, number>>()
  return {
    count(name, labels, by = 1) {
      const series = seriesOf(counts, name)
      const key = keyOf(series, name, labels)
      series.set(key, (series.get(key) ?? 0) + by)
    },
    observe(name, labels, value) {
      const series = seriesOf(histograms, name)
      const key = keyOf(series, name, labels)
      const bounds = definitionOf(name).buckets ?? []
      let known = series.get(key)
      if (known === undefined) {
        known = { counts: new Array(bounds.length + 1).fill(0), sum: 0 }
        series.set(key, known)
      }
      // Among 13 bounds walking is quicker than a binary search.
      let bucket = 0
      while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++
      known.counts[bucket] = (known.counts[bucket] ?? 0) + 1
      known.sum += value
    },
    gauge(name, labels, value) {
      const { most } = definitionOf(name)
      const series = seriesOf(gauges, name)
      // Sites come and go. A site without connections is forgotten, so that the map holds only busy
      // ones. `largest` bounds what is shown.
      const key = most === undefined ? keyOf(series, name, labels) : joined(name, labels)
      if (value === 0 && most !== undefined) series.delete(key)
      else series.set(key, value)
    },
    take() {
      const snapshot = { counts: plain(counts), histograms: plain(histograms), gauges: {} }
      counts = new Map()
      histograms = new Map()
      const entries = [...gauges].map(([name, series]) => [name, largest(series, name)])
      return { ...snapshot, gauges: Object.fromEntries(entries) }
    },
  }
}

/** The `most` largest of a gauge's series, and the sum of the others. */
export function largest(
  series: Iterable<readonly [string, number]>,
  name: string,
): Record<string, number> {
  const { most } = definitionOf(name)
  const entries = [...series]
  if (most === undefined) return Object.fromEntries(entries)
  // A thread's snapshot already has an `other`, which joins the rest and does not compete.
  const named = entries.filter(([key]) => key !== other).sort(([, a], [, b]) => b - a)
  const rest = [...entries.filter(([key]) => key === other), ...named.splice(most)]
  if (rest.length > 0) named.push([other, rest.reduce((sum, [, value]) => sum + value, 0)])
  return Object.fromEntries(named)
}

function seriesOf<T>(all: Map<string, Map<string, T>>, name: string): Map<string, T> {
  const known = all.get(name)
  if (known !== undefined) return known
  const series = new Map<string, T>()
  all.set(name, series)
  return series
}

/** The key of a series; beyond `maxSeries` all new ones share a series whose labels are `other`. */
function keyOf(series: Map<string, unknown>, name: string, labels: object): string {
  const key = joined(name, labels)
  if (series.size < maxSeries || series.has(key)) return key
  return definitionOf(name)
    .labels.map(() => other)
    .join(separator)
}

/** Makes no array, as it is called for every request and attempt. */
function joined(name: string, labels: object): string {
  let key: string | undefined
  for (const label of definitionOf(name).labels) {
    const value = (labels as Record<string, string>)[label] ?? ''
    key = key === undefined ? value : key + separator + value
  }
  return key ?? ''
}

const plain = <T>(all: Map<string, Map<string, T>>): Record<string, Record<string, T>> =>
  Object.fromEntries([...all].map(([name, series]) => [name, Object.fromEntries(series)]))
