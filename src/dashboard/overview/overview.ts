import { listKeys } from '../../accounts/index.js'
import { counted, shownCount } from '../../amounts/index.js'
import { readArrived, readBilling, readUsage } from '../../billing/index.js'
import { listBroadcastsOf } from '../../broadcasts/index.js'
import { putOffOf } from '../../deliveries/index.js'
import { listDomains } from '../../domains/index.js'
import { listEmails, untriedMails } from '../../emails/index.js'
import { handForm, listForms } from '../../forms/index.js'
import { byItself, readAudit } from '../../protection/index.js'
import { refusedLately } from '../../receiving/index.js'
import type { Read } from '../../store/index.js'
import { listEndpoints } from '../../webhooks/index.js'
import { type WaitingView, whyWaits } from '../emails/waiting.js'
import { type Moment, moment, plural } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import { command } from '../shell/command-line.js'
import type { SameBy } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import { type ChecklistStep, firstSteps } from './checklist.js'
import type { OverviewPageDeps } from './deps.js'
import { type FiguresView, figuresOf } from './figures.js'
import { marketingBegun } from './marketing-begun.js'
import { type Need, needsOf } from './needs.js'
import { type UsageView, usageOf } from './usage.js'

/** What the page shows, as plain values. */
export interface OverviewView {
  base: string
  account: string
  maySend: boolean
  needs: Need[]
  steps: ChecklistStep[]
  figures: FiguresView
  waiting: WaitingNowView
  usage: UsageView[]
  plan: string
  same: SameBy
}

// While it is paused little is added to it.
const mostAudited = 20

// Of more campaigns at once the newest are looked at.
const mostSending = 50

/** The front page of an account: what needs somebody, how its mail fares, what waits, what is used. */
export async function showOverview(deps: OverviewPageDeps, visit: Visit): Promise<PageAnswer> {
  const { account, base, now } = visit
  const { read } = deps.store
  const settings = deps.protection
  const [
    billing,
    used,
    domains,
    keys,
    endpoints,
    figures,
    waiting,
    newest,
    audit,
    arrived,
    refused,
    forms,
    byHand,
    campaigns,
  ] = await Promise.all([
    readBilling(read, deps.plans, account.id),
    readUsage(read, account.id, now),
    listDomains(read, account.id),
    listKeys(read, account.id),
    listEndpoints(read, account.id),
    figuresOf(read, account.id, { now, settings }),
    waitingNow(deps, visit),
    listEmails(read, account.id, {}, { limit: 1 }),
    readAudit(read, { accountId: account.id, limit: mostAudited }),
    readArrived(read, account.id, now),
    refusedLately(read, account.id, now),
    listForms(read, account.id),
    handForm(read, account.id),
    listBroadcastsOf(read, account.id, ['sending'], { limit: mostSending }),
  ])
  const usage = usageOf(billing, used, now, arrived.day === 0 ? undefined : arrived)
  // The newest row of a pause says who paused: account protection, or a person.
  const lastPause = audit.find(({ action }) => action.endsWith('paused'))
  // A webhook's URL may have a secret in it: not every role may see it.
  const seen = visit.may('webhooks.read') ? endpoints : []
  const view: OverviewView = {
    base,
    account: account.name,
    maySend: visit.may('emails.send'),
    needs: needsOf(visit, {
      billing,
      domains,
      endpoints: seen,
      usage,
      figures,
      refused,
      forms: byHand === undefined ? forms : [...forms, byHand],
      campaigns,
      settings,
      isPausedByHand: lastPause !== undefined && lastPause.who !== byItself,
    }),
    steps: firstSteps(visit, {
      billing,
      domains,
      keys: keys.length,
      webhooks: endpoints.length,
      hasMail: newest.emails.length > 0,
      marketing: await marketingBegun(read, billing),
    }),
    figures,
    waiting,
    usage,
    plan: [billing.plan.name, billing.marketingPlan?.name].filter(Boolean).join(', '),
    same: {
      api: [call(api.stats.getStats, { query: { groupBy: 'day' } })],
      cli: [
        command('stats', { account: account.id }),
        command('account protection', { of: [account.id] }),
      ],
    },
  }
  return page('overview/overview', view, { title: 'Overview', wide: true })
}

/** What of an account has not left, and why. */
interface WaitingNowView {
  /** In words: '1,200 deliveries wait for another attempt'. */
  facts: string[]
  /** The domains with the most of it, each by the delivery that waits longest. */
  gates: (WaitingView & { lane: string; count: string; href: string })[]
  nextScheduled: Moment | undefined
}

// Beyond it 'more than' is as good an answer.
const mostCounted = 10_000
// How many of the newest mails are looked at: a count of all that were not tried would read the
// whole log.
const newestLooked = 500
// Each costs a question to an outbound thread, and the first ones explain most of what waits.
const gatesShown = 3

/** What has not left, with a bounded number of rows read, however long the queue is. */
async function waitingNow(
  { store, gateOf }: Pick<OverviewPageDeps, 'store' | 'gateOf'>,
  { account, base, now }: { account: { id: string }; base: string; now: number },
): Promise<WaitingNowView> {
  const read: Read = store.read
  const [putOff, untried] = await Promise.all([
    putOffOf(read, account.id, { most: mostCounted, lanes: gatesShown }),
    untriedMails(read, account.id, { scheduled: mostCounted, newest: newestLooked }),
  ])
  const facts = [
    factOf(putOff.deliveries, 'delivery put off or held', 'deliveries put off or held'),
    untried.inLine === newestLooked
      ? `More than ${plural(newestLooked, 'mail')} in line for their first attempt`
      : factOf(
          untried.inLine,
          'mail in line for its first attempt',
          'mails in line for their first attempt',
        ),
    factOf(untried.scheduled, 'mail scheduled', 'mails scheduled'),
  ]
  return {
    facts: facts.filter((fact) => fact !== undefined),
    gates: await Promise.all(
      putOff.lanes.map(async ({ lane, deliveries, first }) => ({
        ...(await whyWaits({ read, now, gateOf }, first)),
        lane,
        count: counted(deliveries, 'delivery', 'deliveries'),
        href: `${base}/emails/${first.emailId}`,
      })),
    ),
    nextScheduled: untried.nextAt === null ? undefined : moment(untried.nextAt, now),
  }
}

/** Undefined for none. */
function factOf(count: number, one: string, many: string): string | undefined {
  if (count === 0) return undefined
  if (count > mostCounted) return `More than ${shownCount(mostCounted)} ${many}`
  return counted(count, one, many)
}
