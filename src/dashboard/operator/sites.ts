import { domainToASCII } from 'node:url'
import { object, string } from 'superstruct'
import { listAccounts } from '../../accounts/index.js'
import { dayMs, shownFor } from '../../clock/index.js'
import { settingName } from '../../config/index.js'
import { changeWaiting, classNameOf, laneNamed, lookForWaiting } from '../../deliveries/index.js'
import { ApiError } from '../../errors/index.js'
import type { QueueClass } from '../../store/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import { linkTo } from '../shell/listing.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import type { OperatorPageDeps } from './deps.js'

/** Where mail goes: its limits, what was learned, and the warm-up of the sources; like `posthorn shaping show`. */
export function sitePages(pages: OperatorPages, deps: OperatorPageDeps): void {
  pages.get('/sites/show', 'operator.read', (visit) => sitePage(deps, visit))
  pages.post(
    '/sites/retry',
    { action: 'operator.write', form: object({ domain: string() }), sudo: true },
    ({ form }) => retry(deps, form.domain),
  )
}

/** The sites that are busy now, those about which something was learned, and the warm-up of our sources. */
export async function listPage(
  deps: OperatorPageDeps,
  { now, may, fields }: OperatorVisit,
  faults: Faults,
): Promise<PageAnswer> {
  const { store, config, running } = deps
  // Loaded here and not at the start, because it loads all of `outbound`, which costs the main thread memory.
  const outbound = await import('../../outbound/index.js')
  const [overview, learned] = [await running.overview(), await outbound.readLearned(store.read)]
  const sources = await outbound.warmingSources(store.read, now, config.outbound)
  const names = [...new Set(learned.map(({ site }) => site))]
  const accounts = new Map((await listAccounts(store.read)).map(({ id, name }) => [id, name]))
  const view = {
    now,
    live: overview.sites.map(({ site, connections, limit, streams, gate, why, until }) => ({
      site,
      connections,
      streams,
      why,
      until,
      gate: gate ?? 'open',
      limit: limit === null ? '–' : String(limit),
    })),
    learned: names.slice(0, mostSites).map((site) => {
      const rows = learned.filter((row) => row.site === site)
      return {
        site,
        connections: rows.reduce((sum, row) => sum + row.learned.connections, 0),
        inForce: [...new Set(rows.map((row) => outbound.inForce(row.learned)))].filter(Boolean),
        asOf: Math.max(...rows.map((row) => row.updatedAt)),
      }
    }),
    more: Math.max(0, names.length - mostSites),
    sources: sources.map(({ address, rampDay, limit, sent, firstDay }) => ({
      address,
      firstDay: firstDay * dayMs,
      warmUp: limit === null ? 'over' : `day ${rampDay} of ${outbound.rampDays}`,
      today: limit === null ? '–' : `${sent} of ${limit}`,
    })),
    warmUpOff: config.outbound.warmUp === 'off',
    faults,
    mayChange: may('operator.write'),
    pools: [
      { value: '', label: 'It waits' },
      ...['default', ...Object.keys(config.outbound.pools)].map((name) => ({
        value: name,
        label: `It leaves from the pool ${name}`,
      })),
    ],
    values: {
      site: fields.get('site') ?? '',
      pool: fields.get('pool') ?? '',
      lasts: fields.get('lasts') ?? '2h',
      why: fields.get('why') ?? '',
    },
    brakes: (await outbound.openBrakes(store.read)).map((one) => ({
      site: one.site,
      source: one.source === '' ? 'all pools' : `the pool ${one.source}`,
      says: outbound.brakeInWords(one),
    })),
    orders: (await outbound.openOrders(store.read, now)).map((one) => ({
      id: String(one.id),
      site: one.site,
      what: one.kind === 'hold' ? 'waits' : `from the pool ${one.pool}`,
      of:
        [accounts.get(one.account_id ?? '') ?? '', className(one.class)].join(' ').trim() || 'all',
      until: one.until,
      why: one.why,
      by: one.given_by,
    })),
  }
  return page('operator/sites', view, { title: 'Sites', wide: true })
}

const className = (of: QueueClass | null) => (of === null ? '' : classNameOf(of))

// A page has no room for the thousands of sites that an appliance may learn about.
const mostSites = 200

/** One site, by a recipients' domain or by its own name: which limits hold there and why, and what was learned. */
async function sitePage(
  deps: OperatorPageDeps,
  { query, may }: OperatorVisit,
): Promise<PageAnswer> {
  const name = query.get('name')?.trim() ?? ''
  const { store, clock, config } = deps
  const outbound = await import('../../outbound/index.js')
  const { data, problems } = outbound.loadReadableShaping(deps.shapingFiles())
  // RFC 5890 §2.3.2.1: people may type a domain in Unicode.
  const domain = domainToASCII(name).toLowerCase()
  const isDomain = outbound.isHostName(domain) && domain.includes('.')
  const route = isDomain
    ? await outbound.routeOfDomain(deps.openResolver(), domain, config.outbound)
    : undefined
  const now = clock.now()
  const of = { read: store.read, now, data, outbound: config.outbound }
  const found = route && (await outbound.explainSite(of, domain, route))
  // A name that is not a domain, or has no route, may still be a site about which something is known.
  const learned = found?.learned ?? (await outbound.readLearned(store.read, name))
  const view = {
    name,
    now,
    problems,
    isDomain,
    mayChange: may('operator.write'),
    noRoute: route && found === undefined ? outbound.noRoute[route.kind] : undefined,
    site: found && { key: found.site.key, provider: found.site.provider ?? '–' },
    mx:
      route?.kind === 'hosts'
        ? route.hosts.map(({ exchange, preference }) => `${preference} ${exchange}`)
        : [],
    limits:
      found === undefined
        ? []
        : outbound.limitNames.map((limit) => ({
            name: settingName([limit]),
            value: String(found.policy[limit]),
            from: found.policy.from[limit],
          })),
    replies: (found?.policy.automations ?? []).map((one) => ({
      pattern: outbound.shownPattern(one),
      code: one.code || '4, 5',
      times:
        one.threshold.times === 1
          ? '1'
          : `${one.threshold.times} in ${outbound.shownSpan(one.threshold.withinMs)}`,
      action: one.action === 'slow down' ? `slow down to ${outbound.shownSlow(one)}` : one.action,
      lasts: one.action === 'none' ? '–' : outbound.shownSpan(one.forMs),
      from: one.from,
    })),
    learned: learned.map(({ source, thread, learned: state, updatedAt }) => ({
      source,
      thread,
      connections: state.connections,
      updatedAt,
      inForce: outbound.inForce(state) || '–',
      isSuspended: state.suspension !== null && state.suspension.until > now,
      suspendedFor: state.suspension === null ? '' : shownFor(state.suspension.until - now),
    })),
  }
  return page('operator/site', view, { title: name === '' ? 'Site' : name, wide: true })
}

/** Like `posthorn queue retry --domain`: one message tries a suspended site at once. */
async function retry(
  { store, clock, land, running }: OperatorPageDeps,
  given: string,
): Promise<PageAnswer> {
  const lane = laneNamed(given)
  if (lane === undefined)
    throw new ApiError('validation_error', `"${given}" is not a domain name`, { status: 422 })
  const { ids } = await lookForWaiting(store.read, { lane })
  const { changed } = await changeWaiting({ store, clock }, 'retry', { ids }, { reason: '-', land })
  running.retry([lane])
  return redirect(linkTo('/operator/sites/show', { name: lane }), {
    flash: `${changed.toLocaleString('en-GB')} deferred deliveries to ${lane} are due now. Where the site is suspended, one message tries it at once`,
    audit: { action: 'site.retry', target: lane, detail: { changed } },
  })
}
