import { listKeys } from '../../accounts/index.js'
import { readBilling, readUsage } from '../../billing/index.js'
import { listDomains } from '../../domains/index.js'
import { listEmails } from '../../emails/index.js'
import { byItself, readAudit } from '../../protection/index.js'
import { listEndpoints } from '../../webhooks/index.js'
import { type Answer, page } from '../shell/answer.js'
import type { Visit } from '../shell/visit.js'
import { firstSteps, type Step } from './checklist.js'
import type { OverviewDeps } from './deps.js'
import { type FiguresView, figuresOf } from './figures.js'
import { type Need, needsOf } from './needs.js'
import { type UsageView, usageOf } from './usage.js'
import { type WaitingNowView, waitingNow } from './waiting.js'

export interface OverviewView {
  base: string
  account: string
  maySend: boolean
  needs: Need[]
  steps: Step[]
  figures: FiguresView
  waiting: WaitingNowView
  usage: UsageView[]
  plan: string
  same: { api: string; cli: string }
}

// While it is paused little is added to it.
const mostAudited = 20

/** The front page of an account: what needs somebody, how its mail fares, what waits, what is used. */
export async function showOverview(deps: OverviewDeps, visit: Visit): Promise<Answer> {
  const { account, base, now } = visit
  const { read } = deps.store
  const settings = deps.protection
  const [billing, used, domains, keys, endpoints, figures, waiting, newest, audit] =
    await Promise.all([
      readBilling(read, deps.plans, account.id),
      readUsage(read, account.id, now),
      listDomains(read, account.id),
      listKeys(read, account.id),
      listEndpoints(read, account.id),
      figuresOf(read, account.id, { now, settings }),
      waitingNow(deps, visit),
      listEmails(read, account.id, {}, { limit: 1 }),
      readAudit(read, { accountId: account.id, limit: mostAudited }),
    ])
  const usage = usageOf(billing, used, now)
  const lastPause = audit.find(({ action }) => action.endsWith('paused'))
  const seen = visit.may('webhooks.read') ? endpoints : []
  const view: OverviewView = {
    ...{ base, account: account.name, maySend: visit.may('emails.send') },
    needs: needsOf(visit, {
      ...{ billing, domains, endpoints: seen, usage, figures, settings },
      isPausedByHand: lastPause !== undefined && lastPause.who !== byItself,
    }),
    steps: firstSteps(visit, {
      ...{ billing, domains, keys: keys.length, webhooks: endpoints.length },
      hasMail: newest.emails.length > 0,
    }),
    ...{ figures, waiting, usage },
    plan: [billing.plan.name, billing.marketingPlan?.name].filter(Boolean).join(', '),
    same: {
      api: 'GET /v1/stats?groupBy=day',
      cli: `posthorn stats --account ${account.id}\nposthorn account protection ${account.id}`,
    },
  }
  return page('overview/overview', view, { title: 'Overview', wide: true })
}
