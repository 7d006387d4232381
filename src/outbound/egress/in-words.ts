import { utcTime } from '../../clock/index.js'
import type { Scope } from './scopes.js'

/** Which way the mail of a scope goes, and why; `forAll`: the orders for all mail. */
export function wayInWords(
  { orders, way, why, until, passed }: Scope,
  now: number,
  forAll?: Scope['orders'],
): string {
  if (forAll === 'forbid') return 'the primary way: the other is forbidden for all mail'
  if (orders === 'force') return 'by the smart hosts: forced by the operator'
  if (orders === 'forbid') return 'the primary way: the other is forbidden by the operator'
  if (way === 'primary') return 'the primary way'
  const probes =
    now < until ? `first probes ${utcTime(until)}` : `probing, ${passed} of 3 in a row passed`
  return `by the smart hosts: ${why}; ${probes}`
}
