import { nextTurn } from '../../bounded/index.js'
import type { Compiled } from '../definition/index.js'
import { simulate } from './simulate.js'
import type { SimulatedWorld, TrialRefusal } from './simulation.js'

/** How many of a cohort came to each result of each step, and to each end. */
export interface CohortCounts {
  contacts: number
  started: number
  /** For how many contacts nothing began, by why. */
  refused: Map<TrialRefusal, number>
  steps: Map<string, Map<string, number>>
  /** By status and reason, such as `exited:goal`; `running` for runs under way at `until`. */
  ends: Map<string, number>
  /** Not everything is told: there were too many steps. */
  cut: boolean
}

// How many lines all contacts together may have: some seconds of the thread.
const maxLines = 50_000

/**
 * Simulates many contacts, each in a world of their own; only counts are kept. Between two contacts the thread serves
 * others: clients wait for it.
 */
export async function simulateCohort(
  version: Compiled,
  worlds: Iterable<SimulatedWorld & { noDate?: TrialRefusal | undefined }>,
): Promise<CohortCounts> {
  const counts: CohortCounts = {
    contacts: 0,
    started: 0,
    refused: new Map(),
    steps: new Map(),
    ends: new Map(),
    cut: false,
  }
  let told = 0
  for (const world of worlds) {
    if (told >= maxLines) {
      counts.cut = true
      break
    }
    await nextTurn()
    const { lines, runs, refused, cut } = simulate(version, world)
    counts.cut ||= cut
    told += lines.length
    counts.contacts += 1
    const why = world.noDate ?? refused[0]?.reason
    if (runs.length > 0) counts.started += 1
    else if (why !== undefined) count(counts.refused, why)
    for (const { step, result } of lines) {
      if (step === null) continue
      const results = counts.steps.get(step) ?? new Map<string, number>()
      counts.steps.set(step, results)
      count(results, result)
    }
    for (const { ended } of runs) {
      const reason = ended?.reason ? `:${ended.reason}` : ''
      count(counts.ends, ended === null ? 'running' : `${ended.status}${reason}`)
    }
  }
  return counts
}

/** Adds one to a name's count. */
const count = <Name extends string>(counts: Map<Name, number>, name: Name) =>
  counts.set(name, (counts.get(name) ?? 0) + 1)
