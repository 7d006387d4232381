import { isoTime } from '../../clock/index.js'
import type { Log } from '../../log/index.js'
import { everything, type Scope } from './scopes.js'
import type { View } from './view.js'

/** Tells that a scope has changed its way: an error when the primary one is lost, a warning when it is back. */
export function tellWay(log: Log, scope: Scope, { isForbidden }: View): void {
  const { scope: name, cause, why, until } = scope
  if (scope.way === 'primary') {
    log.warn({ scope: name, was: why }, `Failover: ${mailOf(name)} goes the primary way again`)
    return
  }
  const fields = { scope: name, cause, why, probesFrom: isoTime(until) }
  const goes = isForbidden
    ? 'would go by the smart hosts, but that is forbidden'
    : 'goes by the smart hosts'
  log.error(fields, `Failover: ${mailOf(name)} ${goes}`)
}

/** Tells what the operator has ordered since. */
export function tellOrders(log: Log, before: View, after: View): void {
  const ordersIn = ({ scopes }: View) =>
    new Map(
      scopes.filter(({ orders }) => orders !== 'auto').map(({ scope, orders }) => [scope, orders]),
    )
  const [then, now] = [ordersIn(before), ordersIn(after)]
  for (const scope of new Set([...then.keys(), ...now.keys()])) {
    const orders = now.get(scope) ?? 'auto'
    if (orders === (then.get(scope) ?? 'auto')) continue
    log.warn({ scope, orders }, `Failover: the operator's word on ${mailOf(scope)}: ${orders}`)
  }
}

/** The scope as sentences name it. */
const mailOf = (scope: string) => (scope === everything ? 'all mail' : `mail to ${scope}`)
