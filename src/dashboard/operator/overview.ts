import { dayMs, shownFor } from '../../clock/index.js'
import { packageVersion } from '../../config/index.js'
import { type Overview, readStatus, type Trouble } from '../../doctor/index.js'
import { findBrokenUpgrade } from '../../release/index.js'
import { databaseBytes, type Read } from '../../store/index.js'
import { fileSize } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorPageDeps } from './deps.js'

/** `/operator`: what `posthorn status` says, and where to do something about it. */
export function overviewPages(pages: OperatorPages, deps: OperatorPageDeps): void {
  pages.get('', 'operator.read', ({ now }) => overviewPage(deps, now))
}

/** `posthorn status` as a page: the same figures by the same function. */
async function overviewPage(deps: OperatorPageDeps, now: number): Promise<PageAnswer> {
  const { store, config, dataDir, running } = deps
  // From the appliance's memory: no row has its rates, or what its threads are doing.
  const overview = await running.overview()
  const status = await readStatus(
    {
      read: store.read,
      now,
      config,
      dataDir,
      certificates: deps.certificates(),
      brokenUpgrade: findBrokenUpgrade(dataDir),
    },
    overview,
  )
  const { freeBytes, sizeBytes, daysLeft } = status.disk
  const ofDatabase = await databaseBytes(store.read)
  const view = {
    now,
    troubles: await Promise.all(
      status.troubles.map(async ({ burning, text, fix, at }) => ({
        burning,
        text,
        fixes: fix.split('; '),
        href: await pageOf(store.read, at),
      })),
    ),
    isWell: overview.unhealthy.length === 0 && overview.unready.length === 0,
    version: packageVersion(),
    release: overview.release,
    startedAt: overview.startedAt,
    listeners: overview.listeners.map(({ name, at }) => ({ label: name, value: at })),
    classes: status.classes.map(({ name, waiting, oldestMs, dueMs }) => ({
      name,
      waiting,
      oldest: spanOf(oldestMs),
      due: spanOf(dueMs),
    })),
    flows: flowsOf(overview),
    sites: status.sites.map(({ site, until, why }) => ({
      site,
      why,
      forMs: until === null ? '–' : shownFor(until - now),
    })),
    held: status.held,
    disk: `${fileSize(freeBytes)} of ${fileSize(sizeBytes)} free`,
    diskUsed: { used: sizeBytes - freeBytes, limit: sizeBytes },
    // Beyond ten years it would not be a forecast.
    fullIn: daysLeft === null || daysLeft > 3_650 ? '' : shownFor(daysLeft * dayMs),
    database: fileSize(ofDatabase),
    backupAt: status.backupAt,
    backups: config.backup.dir !== '',
    certificates: status.certificates.map(({ name, endsAt }) => ({
      label: name,
      left: endsAt > now ? `${shownFor(endsAt - now)} left` : 'has ended',
    })),
  }
  return page('operator/overview', view, { title: 'Overview' })
}

const spanOf = (ms: number | null) => (ms === null ? '–' : shownFor(ms))

/** How much mail came and went in the last hour and day. */
function flowsOf({ rates }: Overview) {
  if (rates === null) return []
  const { hour, day } = rates
  // Within the first hour both are the same.
  return (day.ms > hour.ms ? [hour, day] : [hour]).map((flow) => ({
    ...flow,
    label: shownFor(flow.ms),
  }))
}

/** The page on which a trouble is mended. */
async function pageOf(read: Read, at: Trouble['at']): Promise<string | undefined> {
  if (at === undefined) return undefined
  const { what, id = '' } = at
  if (what === 'domain' || what === 'webhook') {
    const table = what === 'domain' ? 'domains' : 'webhook_endpoints'
    const found = await read
      .selectFrom(table)
      .select('account_id')
      .where('id', '=', id)
      .executeTakeFirst()
    return found && `/operator/accounts/${found.account_id}`
  }
  if (what === 'account') return `/operator/accounts/${id}`
  if (what === 'job') return `/operator/jobs/${id}`
  return `/operator/${what}`
}
