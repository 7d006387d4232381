import type { OperatorPrincipal } from '../accounts/index.js'
import { isoTime } from '../clock/index.js'
import { serve } from '../contract/index.js'
import { classNames } from '../deliveries/index.js'
import { ApiError } from '../errors/index.js'
import { writtenSpan } from '../fields/index.js'
import { type Api, reply } from '../http/index.js'
import type { SiteOrder } from '../outbound/index.js'
import { queueClass } from '../store/index.js'
import { accountOf } from './account-routes.js'
import * as operations from './contract-sites.js'
import type { OperatorApiDeps } from './deps.js'
import { refusing, wrongField } from './refusals.js'

// Loaded late: it brings all of `outbound`, which the main thread needs for nothing else.
const loadOrders = () => import('../outbound/index.js')

/** Orders for sites and domains, as `posthorn site` gives them. */
export function siteRoutes(api: Api<OperatorPrincipal>, deps: OperatorApiDeps): void {
  const { store, clock, config, running } = deps

  serve(api, operations.listSiteOrders, async () => {
    const { openOrders } = await loadOrders()
    return { orders: (await openOrders(store.read, clock.now())).map(shownOrder) }
  })

  serve(api, operations.orderSite, async ({ account, body, remember, note }) => {
    const { site, seconds, why, pool, accountId, class: of } = body
    const { pools } = config.outbound
    if (pool !== undefined && pool !== 'default' && !Object.hasOwn(pools, pool)) {
      throw wrongField('pool', 'The settings have no such pool')
    }
    const isHold = pool === undefined
    if (isHold && (accountId !== undefined || of !== undefined)) {
      const field = accountId === undefined ? 'class' : 'accountId'
      throw wrongField(field, 'All mail to a site is held, or none: hold deliveries for that')
    }
    if (accountId !== undefined) await accountOf(store.read, accountId.toLowerCase())
    const { checkedSite, giveOrder, loadReadableShaping } = await loadOrders()
    const { data } = loadReadableShaping(deps.shapingFiles())
    const named = await refusing(() => checkedSite(data, site), { field: 'site' })
    const now = clock.now()
    const order = {
      kind: isHold ? 'hold' : 'pool',
      site: named,
      pool,
      accountId: accountId?.toLowerCase(),
      class: of && queueClass[of],
      why,
      by: `the operator's key ${account.name}`,
      now,
      until: now + seconds * 1_000,
    } as const
    const shown = await refusing(
      () =>
        store.write(async (tx) => {
          const given = shownOrder(await giveOrder(tx, order))
          await remember(tx, given, 201)
          return given
        }),
      { field: 'site' },
    )
    running.retry([])
    note({
      action: isHold ? 'site.hold' : 'site.move',
      target: shown.site,
      detail: {
        for: writtenSpan(seconds * 1_000),
        why: shown.why,
        pool: shown.pool,
        accountId: shown.accountId,
        class: shown.class,
        order: shown.id,
      },
    })
    return reply(201, shown)
  })

  serve(api, operations.endSiteOrder, async ({ params: { id }, note }) => {
    const { endOrders } = await loadOrders()
    const [ended] = await store.write((tx) => endOrders(tx, { id: Number(id) }, clock.now()))
    if (ended === undefined) throw new ApiError('not_found', 'There is no such order in force')
    running.retry([])
    note({ target: ended.site, detail: { order: ended.id, why: ended.why } })
    return {
      id: ended.id,
      deleted: true,
      message: `Mail to ${ended.site} leaves as the settings say`,
    }
  })
}

const shownOrder = (one: SiteOrder) => ({
  id: one.id,
  order: one.kind,
  site: one.site,
  pool: one.pool,
  accountId: one.account_id,
  class: classNames.find((name) => queueClass[name] === one.class) ?? null,
  why: one.why,
  by: one.given_by,
  givenAt: isoTime(one.given_at),
  until: isoTime(one.until),
})
