import { object, string } from 'superstruct'
import { duration } from '../../config/index.js'
import { ApiError, OperatorError } from '../../errors/index.js'
import { redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import type { OperatorPageDeps } from './deps.js'
import { listPage } from './sites.js'

const Order = object({ site: string(), pool: string(), lasts: string(), why: string() })

const span = duration('2h', '1m', '30d')

/** On `/operator/sites`: mail to a site or a domain waits, or leaves from another pool; like `posthorn site`. */
export function siteOrderPages(pages: OperatorPages, deps: OperatorPageDeps): void {
  const { store, clock, config, running } = deps
  const again = (visit: OperatorVisit, faults: Faults) => listPage(deps, visit, faults)
  pages.get('/sites', 'operator.read', (visit) => listPage(deps, visit, noFaults))
  pages.post(
    '/sites/order',
    { action: 'operator.write', form: Order, sudo: true, again },
    async ({ form, person }) => {
      const { checkedSite, giveOrder, loadReadableShaping, orderInWords } = await import(
        '../../outbound/index.js'
      )
      const lasts = span.read(form.lasts.trim())
      if (!('value' in lasts)) throw wrong('lasts', `Expected ${lasts.expected}`)
      const isHold = form.pool === ''
      if (!isHold && form.pool !== 'default' && !Object.hasOwn(config.outbound.pools, form.pool)) {
        throw wrong('pool', 'The settings have no such pool')
      }
      const { data } = loadReadableShaping(deps.shapingFiles())
      const site = siteIn(() => checkedSite(data, form.site))
      const now = clock.now()
      const order = {
        kind: isHold ? 'hold' : 'pool',
        site,
        pool: isHold ? undefined : form.pool,
        why: form.why,
        by: `${person.name} (${person.email})`,
        now,
        until: now + lasts.value,
      } as const
      const given = await store.write((tx) => giveOrder(tx, order))
      running.retry([])
      return redirect('/operator/sites', {
        flash: orderInWords(given),
        audit: {
          action: isHold ? 'site.hold' : 'site.move',
          target: given.site,
          detail: { for: form.lasts, why: given.why, ...(given.pool && { pool: given.pool }) },
        },
      })
    },
  )
  pages.post(
    '/sites/release',
    { action: 'operator.write', form: object({ id: string() }), sudo: true },
    async ({ form }) => {
      const { endOrders } = await import('../../outbound/index.js')
      const id = /^\d{1,15}$/.test(form.id) ? Number(form.id) : 0
      const [ended] = await store.write((tx) => endOrders(tx, { id }, clock.now()))
      if (ended === undefined) throw new ApiError('not_found', 'This order is over already')
      running.retry([])
      return redirect('/operator/sites', {
        flash: `Mail to ${ended.site} leaves as the settings say`,
        audit: { action: 'site.release', target: ended.site },
      })
    },
  )
}

function siteIn(read: () => string): string {
  try {
    return read()
  } catch (error) {
    throw error instanceof OperatorError ? wrong('site', error.message) : error
  }
}

const wrong = (field: string, message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field } })
