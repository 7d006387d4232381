import type { Clock } from '../../clock/index.js'
import { isProbing } from './breaker.js'
import type { Scope } from './scopes.js'

/** Which scopes have a probe under way in this thread, and when the next of each may begin. */
export interface Probes {
  /** The names of these scopes; none unless a probe is due for all of them. */
  due(broken: readonly Scope[]): string[]
  begin(scopes: readonly string[]): void
  end(scopes: readonly string[]): void
}

// Between the beginnings of two probes.
const probeEveryMs = 15_000

/**
 * One probe at a time and a pause between two: a site that is still broken must not get a stream of
 * mails that fail.
 */
export function makeProbes(clock: Pick<Clock, 'now'>): Probes {
  const probes = new Map<string, { busy: boolean; nextAt: number }>()
  return {
    due(broken) {
      const now = clock.now()
      const isDue = broken.every((scope) => {
        const { busy = false, nextAt = 0 } = probes.get(scope.scope) ?? {}
        return isProbing(scope, now) && !busy && now >= nextAt
      })
      return isDue ? broken.map(({ scope }) => scope) : []
    },
    begin(scopes) {
      const nextAt = clock.now() + probeEveryMs
      for (const scope of scopes) probes.set(scope, { busy: true, nextAt })
    },
    end(scopes) {
      for (const scope of scopes) {
        probes.set(scope, { busy: false, nextAt: probes.get(scope)?.nextAt ?? 0 })
      }
    },
  }
}
