import { utcTime } from '../../clock/index.js'
import { isProbing } from './breaker.js'
import type { Scope, ShownScope } from './scopes.js'

/** Which way the mail of a scope goes, and why; `forAll`: the orders for all mail. */
export function wayInWords(scope: Scope, now: number, forAll?: Scope['orders']): string {
  const { orders, way, why, until, passed } = scope
  if (forAll === 'forbid') return 'the primary way: the other is forbidden for all mail'
  if (orders === 'force') return 'by the smart hosts: forced by the operator'
  if (orders === 'forbid') return 'the primary way: the other is forbidden by the operator'
  if (way === 'primary') return 'the primary way'
  const probes = isProbing(scope, now)
    ? `probing, ${passed} of 3 in a row passed`
    : `first probes ${utcTime(until)}`
  return `by the smart hosts: ${why}; ${probes}`
}

/** The nodes at which it is so on evidence, to stand after the way; empty where there is one node. */
export function atNodes({ nodes }: ShownScope, names: ReadonlyMap<number, string>): string {
  if (names.size < 2 || nodes.length === 0) return ''
  return ` (on ${nodes.map((node) => names.get(node) ?? node).join(', ')})`
}
