import { domainToASCII } from 'node:url'
import { enums, object, optional, string } from 'superstruct'
import { ApiError } from '../../errors/index.js'
import { nodeNames } from '../../nodes/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import type { OperatorPageDeps } from './deps.js'

const Order = object({ order: enums(['force', 'forbid', 'auto']), site: optional(string()) })

/** `/operator/failover`: which way mail leaves, and the operator's word on it; like `posthorn failover`. */
export function failoverPages(pages: OperatorPages, deps: OperatorPageDeps): void {
  const again = (visit: OperatorVisit, faults: Faults) => failoverPage(deps, visit, faults)
  pages.get('/failover', 'operator.read', (visit) => failoverPage(deps, visit, noFaults))
  pages.post(
    '/failover',
    { action: 'operator.write', form: Order, sudo: true, again },
    ({ form }) => order(deps, form.order, form.site),
  )
}

/** Which mail goes by smart hosts now, and on which evidence or order. */
async function failoverPage(
  { store, config }: OperatorPageDeps,
  { now, may }: OperatorVisit,
  faults: Faults,
): Promise<PageAnswer> {
  // Imported only here, because it loads all of outbound.
  const { atNodes, everything, readAllScopes, wayInWords } = await import('../../outbound/index.js')
  const scopes = await readAllScopes(store.read)
  const all = scopes.find(({ scope }) => scope === everything)
  const nodes = await nodeNames(store.read)
  const view = {
    now,
    faults,
    mayChange: may('operator.write'),
    smartHosts: config.outbound.failover.smartHosts.map(
      ({ host, port, tls }) => `${host} port ${port} (${tls})`,
    ),
    all: all === undefined ? 'the primary way' : `${wayInWords(all, now)}${atNodes(all, nodes)}`,
    orders: all?.orders ?? 'auto',
    sites: scopes
      .filter(({ scope }) => scope !== everything)
      .map((scope) => ({
        site: scope.scope,
        since: scope.since || null,
        orders: scope.orders,
        way: `${wayInWords(scope, now, all?.orders)}${atNodes(scope, nodes)}`,
      })),
  }
  return page('operator/failover', view, { title: 'Failover' })
}

/** Writes the operator's order; the outbound threads see it at their next look. */
async function order(
  { store, clock, config }: OperatorPageDeps,
  orders: 'force' | 'forbid' | 'auto',
  given = '',
): Promise<PageAnswer> {
  const { everything, leaveToEvidence, orderScope } = await import('../../outbound/index.js')
  const site = siteIn(given)
  if (orders === 'force' && config.outbound.failover.smartHosts.length === 0) {
    throw refused(
      'There is no smart host yet: name one in the settings, in [[outbound.failover.smart_hosts]]',
    )
  }
  // 'auto' ends the failover for one site; an order to forbid is for all sites.
  if (orders === 'forbid' && site !== undefined) {
    throw refused('The smart hosts can only be forbidden for all mail: leave this field empty')
  }
  await store.write(async (tx) => {
    if (orders === 'auto') await leaveToEvidence(tx, site)
    else await orderScope(tx, site ?? everything, orders, clock.now())
  })
  const mail = site === undefined ? 'All mail' : `Mail to ${site}`
  const said = {
    force: `${mail} goes by the smart hosts`,
    forbid: 'Nothing goes by the smart hosts',
    auto: `${mail} goes the primary way`,
  }
  return redirect('/operator/failover', {
    flash: `${said[orders]}. This takes effect within seconds`,
    audit: { action: `failover.${orders}`, target: site ?? 'all mail' },
  })
}

/**
 * A site by its name: a domain, or the list of MX hosts that names a site. `*` stands for everything and is not a
 * site.
 */
function siteIn(given: string): string | undefined {
  const site = given.trim().toLowerCase()
  if (site === '') return undefined
  if (/^\P{Cc}{1,600}$/u.test(site) && site !== '*') return domainToASCII(site) || site
  throw refused(
    'This is no site: enter a recipients’ domain, or a site as the page of sites names it',
  )
}

const refused = (message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field: 'site' } })
