import type { Definition } from './catalogue.js'
import { type Distribution, definitionOf, largest, type Snapshot, separator } from './tally.js'

/** The counts of all threads together, since the start of the process. */
export interface Ledger {
  /** Adds the counts of `source` (a thread's name); its gauges replace its earlier ones. */
  add(source: string, snapshot: Snapshot): void
  /** Drops the gauges of a thread that is gone. */
  forget(source: string): void
  /** A metric's present values, one entry a line of Prometheus's text. */
  series(name: string): Series[]
  definition(name: string): Definition
}

/** One line of a metric; a histogram has several. */
export interface Series {
  metricName: string
  labels: Record<string, string>
  value: number
}

/**
 * An empty ledger, which belongs to the main thread; the threads' snapshots are added as they come.
 * Counters and histograms only ever rise, as Prometheus wants of a process: a restarted thread goes
 * on from the sums.
 */
export function makeLedger(): Ledger {
  const counts = new Map<string, Map<string, number>>()
  const histograms = new Map<string, Map<string, Distribution>>()
  const gauges = new Map<string, Snapshot['gauges']>()

  // A gauge that several threads set is the sum of their latest values.
  const gaugesOf = (name: string) => {
    const sums = new Map<string, number>()
    for (const snapshot of gauges.values()) {
      for (const [key, value] of Object.entries(snapshot[name] ?? {})) {
        sums.set(key, (sums.get(key) ?? 0) + value)
      }
    }
    return Object.entries(largest(sums, name))
  }

  return {
    definition: definitionOf,
    add(source, snapshot) {
      for (const [name, key, by] of flat(snapshot.counts)) {
        const series = within(counts, name)
        series.set(key, (series.get(key) ?? 0) + by)
      }
      for (const [name, key, more] of flat(snapshot.histograms)) {
        const series = within(histograms, name)
        // Copied, not kept: the snapshot's own arrays stay as the thread sent them.
        const known = series.get(key) ?? { counts: more.counts.map(() => 0), sum: 0 }
        known.counts = known.counts.map((count, at) => count + (more.counts[at] ?? 0))
        known.sum += more.sum
        series.set(key, known)
      }
      gauges.set(source, snapshot.gauges)
    },
    forget: (source) => void gauges.delete(source),
    series(name) {
      const definition = definitionOf(name)
      if (definition.type === 'histogram') {
        return [...(histograms.get(name) ?? [])].flatMap(([key, distribution]) =>
          linesOf(name, labelsOf(definition, key), distribution, definition.buckets ?? []),
        )
      }
      const entries = definition.type === 'gauge' ? gaugesOf(name) : [...(counts.get(name) ?? [])]
      // A metric without labels exists from the start, at 0.
      if (entries.length === 0 && definition.labels.length === 0) entries.push(['', 0])
      return entries.map(([key, value]) => ({
        metricName: name,
        labels: labelsOf(definition, key),
        value,
      }))
    },
  }
}

/** Prometheus counts a value into every bucket whose bound it does not exceed; `+Inf` has all. */
function linesOf(
  name: string,
  labels: Record<string, string>,
  { counts, sum }: Distribution,
  bounds: readonly number[],
): Series[] {
  let count = 0
  const buckets = counts.map((more, at) => {
    count += more
    const le = bounds[at] === undefined ? '+Inf' : String(bounds[at])
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}

/** The labels by name: a series' key is their values in the catalogue's order. */
function labelsOf({ labels }: Definition, key: string): Record<string, string> {
  const values = key.split(separator)
  return Object.fromEntries(labels.map((label, at) => [label, values[at] ?? '']))
}

/** Every series of every metric: metric, key, value. */
function* flat<T>(all: Record<string, Record<string, T>>): Generator<[string, string, T]> {
  for (const [name, series] of Object.entries(all)) {
    for (const [key, value] of Object.entries(series)) yield [name, key, value]
  }
}

/** The series of a metric; starts an empty map if there is none. */
function within<T>(all: Map<string, Map<string, T>>, name: string): Map<string, T> {
  const series = all.get(name) ?? new Map<string, T>()
  all.set(name, series)
  return series
}
