import { listAccounts } from '../../accounts/index.js'
import { countHeld } from '../../automations/index.js'
import { listPaused } from '../../broadcasts/index.js'
import { auditOf } from '../../contract/index.js'
import { listWaiting, lookForWaiting } from '../../deliveries/index.js'
import { pageOf } from '../../store/index.js'
import * as operations from '../../surges/contract.js'
import { decideSurge, findAnySurge, openSurges } from '../../surges/index.js'
import { countSetAside } from '../../webhooks/index.js'
import { page, redirect } from '../shell/answer.js'
import { listOf } from '../shell/listing.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import { surgeView } from '../surges/view.js'
import type { OperatorPageDeps } from './deps.js'
import { countOf } from './queue.js'

const perPage = 50

/** `/operator/held`: all that waits for somebody's decision; like `posthorn queue held`. */
export function heldPages(pages: OperatorPages, deps: OperatorPageDeps): void {
  pages.get('/held', 'operator.read', (visit) => heldPage(deps, visit))
  const { store, clock } = deps
  for (const [name, operation, decision] of [
    ['release', operations.releaseSurge, 'released'],
    ['fail', operations.failSurge, 'failed'],
  ] as const) {
    const deciding = { action: 'operator.write', sudo: true } as const
    pages.post(`/surges/:id/${name}`, deciding, async ({ params, person }) => {
      const { id, held, accountId } = await findAnySurge(store.read, params.id ?? '')
      const by = `the operator ${person.name}`
      await store.write((tx) => decideSurge(tx, id, { decision, by, now: clock.now() }))
      const flash = decision === 'released' ? 'What was held leaves' : 'What was held is given up'
      const audit = auditOf(operation, { target: id, detail: { held, accountId } })
      return redirect('/operator/held', { flash, audit })
    })
  }
}

/** Deliveries a page at a time; each page has all campaigns, runs of automations and webhooks. */
async function heldPage({ store: { read } }: OperatorPageDeps, { query, now, may }: OperatorVisit) {
  let count = ''
  const { rows: shown, ...beside } = await listOf(
    { path: '/operator/held', query },
    async (given = '') => {
      const after = /^\d{1,16}$/.test(given) ? Number(given) : -1
      const { ids, isCut } = await lookForWaiting(read, { held: true }, { after })
      count = countOf(ids.length, isCut)
      return pageOf(ids, perPage, String)
    },
  )
  const waiting = await listWaiting(read, { ids: shown }, perPage)
  const [campaigns, runs, webhooks] = [
    await listPaused(read),
    await countHeld(read),
    await countSetAside(read),
  ]
  const surges = await openSurges(read, perPage)
  const names = new Map((await listAccounts(read)).map(({ id, name }) => [id, name]))
  const view = {
    now,
    mayChange: may('operator.write'),
    count,
    rows: waiting.map(({ id, recipient, held, accountId, ...one }) => ({
      id: String(id),
      recipient,
      class: one.class,
      account: names.get(accountId) ?? '',
      since: held?.since ?? null,
      dueAt: held?.dueAt ?? null,
      why: held?.reason ?? '',
    })),
    ...beside,
    surges: surges.map((surge) => ({ ...surgeView(surge, now), account: surge.accountName })),
    campaigns: campaigns.slice(0, perPage).map((one) => ({
      id: one.id,
      accountId: one.account_id,
      subject: one.subject,
      why: one.reason ?? '',
      account: names.get(one.account_id) ?? '',
      dueAt: one.scheduled_at ?? one.created_at,
    })),
    runs: runs.slice(0, perPage).map(({ name, runs, oldestDueAt, reason, automationId }) => ({
      name,
      automationId,
      runs: runs.toLocaleString('en-GB'),
      oldestDueAt,
      why: reason ?? '',
    })),
    webhooks: webhooks.slice(0, perPage).map(({ url, accountId, endpointId, ...one }) => ({
      url,
      accountId,
      endpointId,
      oldestAt: one.oldestAt,
      why: one.reason,
      events: one.events.toLocaleString('en-GB'),
    })),
  }
  return page('operator/held', view, { title: 'Held', wide: true })
}
