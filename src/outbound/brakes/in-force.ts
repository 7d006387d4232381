import { type SiteBrakeRow, sinceCommit } from '../../store/index.js'
import type { OutboundDeps } from '../deps.js'
import type { SiteBrake } from '../shaping/index.js'
import { brakeInWords } from './next-brake.js'
import { openBrakes } from './site-brake.js'

/** The brakes that a thread keeps to, as it last read them. */
export interface BrakesInForce {
  of(site: string, source: string): SiteBrake | undefined
  rows(): readonly SiteBrakeRow[]
  /** `pool`: empty for all pools. */
  row(site: string, pool: string): SiteBrakeRow | undefined
  /** The brake that mail from a source has to keep to: that of its pool, or of all pools. */
  rowFor(site: string, source: string): SiteBrakeRow | undefined
  /** Campaign mails a minute of this thread before a brake comes on, by `siteKey`. */
  readonly paces: Map<string, number>
  /** Reads them anew. True: other brakes are on than before, or one is in another state. */
  refresh(): Promise<boolean>
}

/**
 * Reads the brakes that are on, for sites that come into use from now on. `poolOf`: all addresses of a pool keep to
 * the brake of one, because a provider that blocks one address must not get the campaign from the next.
 */
export async function makeBrakes(
  { store, threads }: Pick<OutboundDeps, 'store' | 'threads'>,
  poolOf: (source: string) => string,
): Promise<BrakesInForce> {
  const readRows = sinceCommit(store, () => openBrakes(store.read))
  let rows: readonly SiteBrakeRow[] = await readRows()
  let byKey = indexed(rows)
  const paces = new Map<string, number>()
  const rowFor = (site: string, source: string) =>
    byKey.get(siteKey(site, poolOf(source))) ?? byKey.get(siteKey(site, ''))
  const of = (site: string, source: string): SiteBrake | undefined => {
    if (byKey.size === 0) return undefined
    const row = rowFor(site, source)
    if (row === undefined) return undefined
    // Each thread slows down its own pace; a thread that had none, or was started since, gets an equal part.
    const usual = paces.get(siteKey(site, source)) ?? row.per_minute / threads
    const { percent, until } = row
    return { percent, until, perMinute: (usual * percent) / 100, why: brakeInWords(row) }
  }
  return {
    of,
    paces,
    rows: () => rows,
    row: (site: string, pool: string) => byKey.get(siteKey(site, pool)),
    rowFor,
    async refresh() {
      const before = rows
      rows = await readRows()
      byKey = indexed(rows)
      for (const key of paces.keys()) {
        const [site = '', source = ''] = key.split('\n')
        if (of(site, source) === undefined) paces.delete(key)
      }
      const stateOf = ({ site, source, since }: SiteBrakeRow) => `${siteKey(site, source)} ${since}`
      return before.map(stateOf).join() !== rows.map(stateOf).join()
    },
  }
}

/** A site as seen from a source, in one text. */
export const siteKey = (site: string, source: string) => `${site}\n${source}`
const indexed = (rows: readonly SiteBrakeRow[]) =>
  new Map(rows.map((row) => [siteKey(row.site, row.source), row]))
