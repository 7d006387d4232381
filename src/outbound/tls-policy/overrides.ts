import { asciiName } from '../../dns/index.js'
import type { TlsDemand } from './demand.js'

/** What an operator may demand for a domain, whatever the domain publishes. */
export type TlsOverride = 'off' | 'opportunistic' | 'require' | 'verify'

/**
 * The operator's word on a domain. `example.com` is that domain alone, `*.example.com` all domains below it, and `*`
 * every domain; the closest match counts.
 */
export function makeOverrides(
  table: Readonly<Record<string, TlsOverride>>,
): (domain: string) => TlsDemand | undefined {
  const byName = new Map(
    Object.entries(table).map(([name, override]) => [asciiName(name), demandOf(override)]),
  )
  if (byName.size === 0) return () => undefined
  return (domain) => {
    const exact = byName.get(domain)
    if (exact !== undefined) return exact
    const labels = domain.split('.')
    for (let up = 1; up <= labels.length; up++) {
      const above = byName.get(['*', ...labels.slice(up)].join('.'))
      if (above !== undefined) return above
    }
    return undefined
  }
}

/** An operator's word as a demand on sessions. */
function demandOf(override: TlsOverride): TlsDemand {
  const by = `operator: ${override}`
  if (override === 'verify') return { mode: 'require', verify: 'name', by }
  return { mode: override, by }
}
