import { everything, type Scope } from './scopes.js'

/** What the scopes, as last read, say about the way of a mail. */
export interface View {
  readonly scopes: readonly Scope[]
  /** `lane`: the recipient's domain, which an operator may have named instead of the site. */
  wayTo(site: string, lane: string): 'primary' | 'failover'
  /** The scopes that keep a site's mail from the primary way on evidence; empty when orders decide. */
  broken(site: string, lane: string): Scope[]
  readonly isForbidden: boolean
  /** Differs from another view's when mail of some scope goes another way. */
  readonly ways: string
}

/**
 * What the threads act on, made from the rows at each change: `forbid` for all mail wins over everything, then
 * orders, then evidence.
 */
export function viewOf(scopes: readonly Scope[]): View {
  // The operator's word has a row of its own.
  const ordersOf = new Map(
    scopes.filter(({ orders }) => orders !== 'auto').map(({ scope, orders }) => [scope, orders]),
  )
  const turned = new Map(
    scopes.filter(({ way }) => way === 'failover').map((scope) => [scope.scope, scope]),
  )
  const isForbidden = ordersOf.get(everything) === 'forbid'
  const isForced = (site: string, lane: string) =>
    [everything, site, lane].some((name) => ordersOf.get(name) === 'force')
  const brokenOf = (site: string) =>
    [turned.get(everything), turned.get(site)].filter((scope) => scope !== undefined)

  return {
    scopes,
    isForbidden,
    wayTo(site, lane) {
      if (isForbidden) return 'primary'
      return isForced(site, lane) || brokenOf(site).length > 0 ? 'failover' : 'primary'
    },
    broken: (site, lane) => (isForbidden || isForced(site, lane) ? [] : brokenOf(site)),
    ways: scopes.map(({ scope, orders, way }) => `${scope} ${orders} ${way}`).join('\n'),
  }
}
