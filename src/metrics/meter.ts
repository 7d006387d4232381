import type { LabelsOf, NameOf } from './catalogue.js'

/** The way in for everything that counts. Names, labels and units are in `catalogue.ts`. */
export interface Meter {
  count<N extends NameOf<'counter'>>(name: N, labels: LabelsOf<N>, by?: number): void
  observe<N extends NameOf<'histogram'>>(name: N, labels: LabelsOf<N>, value: number): void
  /** What is so now; a site without connections is 0. */
  gauge<N extends NameOf<'gauge'>>(name: N, labels: LabelsOf<N>, value: number): void
}

/** For `metrics.enabled = false`, and for tests that count nothing. */
export const silentMeter: Meter = { count() {}, observe() {}, gauge() {} }
