import type { Reason } from '../doctor/index.js'
import type { Page, Pages } from '../http/index.js'
import type { Health } from './health.js'

/**
 * For load balancers, containers and monitoring. Without a key, as these have none, and on the private
 * listener alone: to strangers it would tell when the disk is full or a restart is due.
 */
export function healthRoutes(pages: Pages, health: Pick<Health, 'unhealthy' | 'unready'>): void {
  pages.get('/healthz', async () => answer(await health.unhealthy()))
  pages.get('/readyz', async () => answer(await health.unready()))
}

function answer(reasons: readonly Reason[]): Page {
  if (reasons.length === 0) return { text: 'ok\n' }
  return {
    status: 503,
    text: `${JSON.stringify({ reasons })}\n`,
    contentType: 'application/json; charset=utf-8',
  }
}
