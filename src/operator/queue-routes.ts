import type { OperatorPrincipal } from '../accounts/index.js'
import { isoTime } from '../clock/index.js'
import { type BodyOf, serve } from '../contract/index.js'
import {
  changeWaiting,
  checkedReason,
  laneNamed,
  lookForWaiting,
  type QueueChangeName,
  type QueueFilter,
  queueChanges,
  usualReason,
} from '../deliveries/index.js'
import { type MailFlow, readQueueFigures } from '../doctor/index.js'
import type { Api } from '../http/index.js'
import { queueClass } from '../store/index.js'
import { decideSurge, openSurges, type Surge, shownSurge } from '../surges/index.js'
import * as operations from './contract-queue.js'
import type { OperatorApiDeps } from './deps.js'
import { refusing, wrongField } from './refusals.js'

const mostSurges = 100

/** The queue's figures and its changes, and surges, as `posthorn queue` and `posthorn surge`. */
export function queueRoutes(api: Api<OperatorPrincipal>, deps: OperatorApiDeps): void {
  const { store, clock, running } = deps
  serve(api, operations.getQueue, async () => {
    const now = clock.now()
    const overview = await running.overview()
    const classes = await readQueueFigures(store.read, now, overview)
    const held = await lookForWaiting(store.read, { held: true })
    return {
      classes: classes.map(({ name, deliveries, isLeast, oldestMs, dueMs }) => ({
        class: name,
        waiting: deliveries,
        isLeast,
        oldestSeconds: secondsOf(oldestMs),
        dueSeconds: secondsOf(dueMs),
      })),
      held: { deliveries: held.ids.length, isLeast: held.isCut },
      lastHour: shownFlow(overview.rates?.hour),
      lastDay: shownFlow(overview.rates?.day),
      sites: overview.sites.map(({ site, connections, limit, streams, gate, why, until }) => ({
        site,
        connections,
        limit,
        streams,
        gate,
        why,
        until: isoTime(until),
      })),
    }
  })
  for (const [operation, name] of [
    [operations.holdDeliveries, 'hold'],
    [operations.releaseDeliveries, 'release'],
    [operations.retryDeliveries, 'retry'],
    [operations.failDeliveries, 'fail'],
  ] as const) {
    serve(api, operation, async ({ body, note }) => {
      note({ detail: body })
      return await changeQueue(deps, name, body)
    })
  }
  surgesOfAll(api, deps)
}

function surgesOfAll(api: Api<OperatorPrincipal>, { store, clock }: OperatorApiDeps): void {
  serve(api, operations.listOpenSurges, async () => ({
    surges: (await openSurges(store.read, mostSurges)).map(withAccount),
  }))
  for (const [operation, decision] of [
    [operations.releaseAnySurge, 'released'],
    [operations.failAnySurge, 'failed'],
  ] as const) {
    serve(api, operation, async ({ account, params: { id }, remember }) => {
      const how = { decision, by: `the operator's key ${account.name}`, now: clock.now() }
      return await store.write(async (tx) => {
        const shown = withAccount(await decideSurge(tx, id, how))
        await remember(tx, shown)
        return shown
      })
    })
  }
}

const withAccount = (surge: Surge) => ({ accountId: surge.accountId, surge: shownSurge(surge) })

const secondsOf = (ms: number | null) => (ms === null ? null : Math.round(ms / 1_000))

const shownFlow = (flow: MailFlow | undefined) =>
  flow === undefined
    ? null
    : {
        seconds: Math.round(flow.ms / 1_000),
        accepted: flow.accepted,
        delivered: flow.delivered,
        deferred: flow.deferred,
        bounced: flow.bounced,
      }

/** The deliveries that a body chooses; throws a 422 where it chooses nothing and does not say that it means all. */
function filterIn(body: BodyOf<typeof operations.holdDeliveries>, now: number): QueueFilter {
  const { accountId, domain, class: of, campaignId, emailId, olderThanSeconds, all } = body
  const lane = domain === undefined ? undefined : laneNamed(domain)
  if (domain !== undefined && lane === undefined)
    throw wrongField('domain', `"${domain}" is not a domain name`)
  const chosen = {
    lane,
    accountId: accountId?.toLowerCase(),
    class: of && queueClass[of],
    broadcastId: campaignId?.toLowerCase(),
    emailId: emailId?.toLowerCase(),
    acceptedBefore: olderThanSeconds === undefined ? undefined : now - olderThanSeconds * 1_000,
  }
  if (all || Object.values(chosen).some((one) => one !== undefined)) return chosen
  const choose = 'Choose deliveries by a field such as accountId or domain, or say "all": true'
  throw wrongField('all', choose)
}

/** Looks at no more deliveries than a page does, and says where to go on. */
async function changeQueue(
  deps: OperatorApiDeps,
  name: QueueChangeName,
  body: BodyOf<typeof operations.holdDeliveries>,
) {
  const { store, clock, land, running } = deps
  const { only, reason: asked } = queueChanges[name]
  if (asked === 'required' && body.reason === undefined) {
    throw wrongField('reason', 'Say why: the senders are told')
  }
  const reason = await refusing(
    () => (asked === 'none' ? '-' : checkedReason(body.reason ?? usualReason)),
    { field: 'reason' },
  )
  const filter = { ...filterIn(body, clock.now()), ...only }
  const after = body.after === undefined ? -1 : Number(body.after)
  const { ids, isCut, next } = await lookForWaiting(store.read, filter, { after })
  const done = await refusing(() =>
    changeWaiting({ store, clock }, name, { ids }, { reason, land }),
  )
  if (done.retried.length > 0) running.retry(done.retried)
  const { changed, inFlight, unchanged } = done
  return {
    changed,
    inFlight,
    unchanged,
    isAll: !isCut,
    next: isCut && next !== null ? String(next) : null,
  }
}
