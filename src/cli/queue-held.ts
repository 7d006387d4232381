import { shownCount } from '../amounts/index.js'
import { countHeld } from '../automations/index.js'
import { listPaused } from '../broadcasts/index.js'
import { countSetAside } from '../webhooks/index.js'
import { withStore } from './database.js'
import { jsonTime, remark, say, sayTable, shownTime } from './output.js'
import type { CommandPlace } from './place.js'
import { type FilterOptions, filterOf } from './queue-filter.js'
import { oneLine } from './queue-show.js'

/** Campaigns, runs and webhooks that wait for a decision. */
type OthersHeld = Awaited<ReturnType<typeof othersHeld>>

/**
 * What waits for the operator beside deliveries; a narrower choice of deliveries excludes runs and
 * webhooks.
 */
export async function othersHeld(place: CommandPlace, options: FilterOptions) {
  return await withStore(place, async ({ store: { read }, clock }) => {
    const { accountId, broadcastId, ...others } = await filterOf(read, options, clock.now())
    const paused = await listPaused(read, accountId)
    const isNarrow = [broadcastId, ...Object.values(others)].some((given) => given !== undefined)
    return {
      campaigns: paused.filter(({ id }) => broadcastId === undefined || id === broadcastId),
      runs: isNarrow ? [] : await countHeld(read, accountId),
      webhooks: isNarrow ? [] : await countSetAside(read, accountId),
    }
  })
}

/**
 * Four kinds of things can be held, and an operator who asks what waits for them means all four.
 */
export function sayOthersHeld({ campaigns, runs, webhooks }: OthersHeld): void {
  sayPart(
    ['PAUSED CAMPAIGN', 'SUBJECT', 'WAS DUE', 'WHY'],
    campaigns.map((one) => [
      one.id,
      one.subject.slice(0, 40),
      shownTime(one.scheduled_at ?? one.created_at),
      oneLine(one.reason ?? ''),
    ]),
    "'posthorn broadcast resume ID' lets one go on, 'posthorn broadcast cancel ID' ends it",
  )
  sayPart(
    ['HELD RUNS', 'AUTOMATION', 'NAME', 'WAS DUE', 'WHY'],
    runs.map(({ runs, automationId, name, oldestDueAt, reason }) => [
      shownCount(runs),
      automationId,
      name.slice(0, 40),
      shownTime(oldestDueAt),
      oneLine(reason ?? ''),
    ]),
    "'posthorn automation resume ID --overdue shift|now|skip' releases them: 'now' makes at most one mail a run at once",
  )
  const isOff = webhooks.some(({ enabled }) => !enabled)
  sayPart(
    ['WEBHOOKS SET ASIDE', 'ENDPOINT', 'URL', 'OLDEST', 'WHY'],
    webhooks.map(({ events, endpointId, url, oldestAt, reason }) => [
      shownCount(events),
      endpointId,
      url.slice(0, 40),
      shownTime(oldestAt),
      oneLine(reason),
    ]),
    `'posthorn webhook replay ENDPOINT --failed' sends them${isOff ? ", after 'posthorn webhook enable ENDPOINT'" : ''}; left alone they are never sent`,
  )
}

/** One of the three kinds, with what to do about it; writes nothing if none is held. */
function sayPart(titles: string[], rows: string[][], whatToDo: string): void {
  if (rows.length === 0) return
  say()
  sayTable(titles, rows, '')
  remark(whatToDo)
}

/** What else is held, for scripts. */
export const othersForMachines = ({ campaigns, runs, webhooks }: OthersHeld) => ({
  campaigns: campaigns.map((one) => ({
    id: one.id,
    accountId: one.account_id,
    name: one.name,
    subject: one.subject,
    status: one.status,
    dueAt: jsonTime(one.scheduled_at ?? one.created_at),
    reason: one.reason,
  })),
  runs: runs.map(({ oldestDueAt, ...one }) => ({ ...one, oldestDueAt: jsonTime(oldestDueAt) })),
  webhooks: webhooks.map(({ oldestAt, ...one }) => ({ ...one, oldestAt: jsonTime(oldestAt) })),
})
