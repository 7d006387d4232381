import { type Clock, isRecent } from '../../clock/index.js'
import { isProbing } from './breaker.js'
import type { Scope } from './scopes.js'

/** Which scopes have a probe under way in this thread, and when each may have its next one. */
export interface Probes {
  /** The names of these scopes if a probe is due for all of them, else none. */
  due(broken: readonly Scope[]): string[]
  begin(scopes: readonly string[]): void
  end(scopes: readonly string[]): void
}

// The time between the beginnings of two probes.
const probeEveryMs = 15_000
const none = { busy: false, begunAt: 0 }

/**
 * One probe at a time and a pause between two: a site that is still broken must not get a stream of
 * mails that fail.
 */
export function makeProbes(clock: Pick<Clock, 'now'>): Probes {
  const probes = new Map<string, { busy: boolean; begunAt: number }>()
  return {
    due(broken) {
      const now = clock.now()
      const isDue = broken.every((scope) => {
        const { busy, begunAt } = probes.get(scope.scope) ?? none
        return isProbing(scope, now) && !busy && !isRecent(begunAt, now, probeEveryMs)
      })
      return isDue ? broken.map(({ scope }) => scope) : []
    },
    begin(scopes) {
      const begunAt = clock.now()
      for (const scope of scopes) probes.set(scope, { busy: true, begunAt })
    },
    end(scopes) {
      for (const scope of scopes) {
        const { begunAt } = probes.get(scope) ?? none
        probes.set(scope, { busy: false, begunAt })
      }
    },
  }
}
