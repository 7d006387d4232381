import { type Account, accountById } from '../../accounts/index.js'
import { readBilling, readUsage } from '../../billing/index.js'
import { dayMs, utcTime } from '../../clock/index.js'
import { listDomains } from '../../domains/index.js'
import { ApiError } from '../../errors/index.js'
import {
  actionWords,
  rateOf,
  readAudit,
  readHours,
  readStanding,
  shownRate,
  type Totals,
} from '../../protection/index.js'
import { pageOf, type Read } from '../../store/index.js'
import { listSuppressions } from '../../suppression/index.js'
import { page } from '../shell/answer.js'
import type { Chart } from '../shell/chart.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { listOf } from '../shell/listing.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import { stateOf } from './accounts.js'
import type { OperatorPageDeps } from './deps.js'

const perPage = 50

/** One account, in tabs: its state, its rates and pauses, who complained, and its people. */
export function accountPages(pages: OperatorPages, deps: OperatorPageDeps): void {
  // Each tab is a page of its own, so that none reads what only another tab shows.
  const views = { '': standingPage, '/rates': ratesPage, '/complaints': complaintsPage }
  for (const [path, show] of Object.entries(views)) {
    pages.get(`/accounts/:id${path}`, 'operator.read', (visit) => show(deps, visit))
  }
}

/** The account of a path, by its id; throws a 404. */
export async function accountOf(read: Read, id = ''): Promise<Account> {
  const found = await accountById(read, id)
  if (found !== undefined) return found
  throw new ApiError('not_found', 'There is no such account')
}

/** What every tab has. */
export async function headOf(
  { store: { read }, plans }: OperatorPageDeps,
  { params, now }: OperatorVisit,
) {
  const { id, name, createdAt } = await accountOf(read, params.id)
  const billing = await readBilling(read, plans, id)
  return { billing, head: { id, name, createdAt, now, ...stateOf(billing) } }
}

/** The account's state, with the forms that change it. */
export async function standingPage(
  deps: OperatorPageDeps,
  visit: OperatorVisit,
  faults: Faults = noFaults,
) {
  const { store, plans, config } = deps
  const { read } = store
  const { head, billing } = await headOf(deps, visit)
  const { now } = visit
  const usage = await readUsage(read, head.id, now)
  const domains = await listDomains(read, head.id)
  const { plan, marketingPlan, state, suspended, paused, marketingPaused } = billing
  const { totals, warnedAt } = await readStanding(read, head.id, {
    now,
    settings: config.protection,
  })
  const limit = (most: number | null) =>
    most === null ? 'unlimited' : most.toLocaleString('en-GB')
  const view = {
    head,
    faults,
    mayChange: visit.may('operator.write'),
    suspended,
    paused,
    marketingPaused,
    billingState: state,
    plan: { id: plan.id, name: plan.name },
    marketingPlan: { id: marketingPlan?.id ?? 'none', name: marketingPlan?.name ?? 'none' },
    plans: plans.email.map(({ id, name }) => ({ value: id, label: name })),
    marketingPlans: [
      { value: 'none', label: 'none' },
      ...plans.marketing.map(({ id, name }) => ({ value: id, label: name })),
    ],
    usage: [
      {
        label: 'Mails this month',
        used: usage.monthMails,
        limit: plan.monthlyLimit,
        text: `${usage.monthMails.toLocaleString('en-GB')} of ${limit(plan.monthlyLimit)}`,
      },
      {
        label: 'Mails today',
        used: usage.dayMails,
        limit: plan.dailyLimit,
        text: `${usage.dayMails.toLocaleString('en-GB')} of ${limit(plan.dailyLimit)}`,
      },
    ],
    domains: domains.map(({ name, status }) => ({ name, status })),
    rates: ratesOf(totals, config.protection),
    warnedAt: [warnedAt.bounce, warnedAt.complaint].find((at) => at !== null) ?? null,
  }
  return page('operator/account', view, { title: head.name })
}

/** The rates at which protection warns and pauses, in millionths. */
type Thresholds = OperatorPageDeps['config']['protection']

/** Both rates of the window, with what they call for. */
function ratesOf({ recipients, bounces, complaints }: Totals, settings: Thresholds) {
  return [
    { label: 'Bounces', count: bounces, of: settings.bounces },
    { label: 'Complaints', count: complaints, of: settings.complaints },
  ].map(({ label, count, of: { warn, pause } }) => {
    const rate = rateOf(count, recipients)
    const tone: 'good' | 'doubt' | 'bad' =
      rate * 1e6 >= pause ? 'bad' : rate * 1e6 >= warn ? 'doubt' : 'good'
    return {
      label,
      count,
      recipients,
      rate: shownRate(rate),
      tone,
      warn: shownRate(warn / 1e6),
      pause: shownRate(pause / 1e6),
    }
  })
}

const auditShown = 50

/** The rates of the window: now, over time and by provider, and what followed from them. */
async function ratesPage(deps: OperatorPageDeps, visit: OperatorVisit) {
  const { store, config } = deps
  const { read } = store
  const { head } = await headOf(deps, visit)
  const settings = config.protection
  const window = { at: visit.now, windowMs: settings.window }
  const { totals, providers } = await readStanding(read, head.id, { now: visit.now, settings })
  const history = await readAudit(read, { accountId: head.id, limit: auditShown })
  const hours = await readHours(read, head.id, window)
  const view = {
    head,
    days: Math.round(settings.window / dayMs),
    minRecipients: settings.minRecipients.toLocaleString('en-GB'),
    rates: ratesOf(totals, settings),
    unproved: totals.unproved,
    charts: chartsOf(soFar(hours), settings),
    // The last two days, the newest hour first.
    hours: hours
      .slice(-48)
      .reverse()
      .map(({ at, recipients, bounces, complaints }) => ({
        recipients,
        bounces,
        complaints,
        label: utcTime(at),
        bounceRate: shownRate(rateOf(bounces, recipients)),
        complaintRate: shownRate(rateOf(complaints, recipients)),
      })),
    providers: providers.map(({ provider, recipients, bounces, complaints }) => ({
      provider,
      recipients: recipients.toLocaleString('en-GB'),
      bounces: `${bounces} (${shownRate(rateOf(bounces, recipients))})`,
      complaints: `${complaints} (${shownRate(rateOf(complaints, recipients))})`,
    })),
    history: history.map(({ at, action, reason, who, note, totals }) => ({
      at,
      action: actionWords(action),
      reason,
      who,
      note: note ?? '',
      figures: `${totals.bounces} bounced and ${totals.complaints} complained of ${totals.recipients}`,
    })),
  }
  return page('operator/account-rates', view, { title: `Rates of ${head.name}` })
}

// How many points a page has room for.
const mostPoints = 60

/** The rates of the window after each hour, which are compared with the thresholds. */
function soFar(hours: readonly ({ at: number } & Totals)[]) {
  let [recipients, bounces, complaints] = [0, 0, 0]
  const all = hours.map((hour) => {
    recipients += hour.recipients
    bounces += hour.bounces
    complaints += hour.complaints
    return {
      label: utcTime(hour.at),
      bounces: rateOf(bounces, recipients),
      complaints: rateOf(complaints, recipients),
    }
  })
  // Counted from the end, so that the newest hour is always a point.
  const every = Math.ceil(all.length / mostPoints)
  return all.filter((_, at) => (all.length - 1 - at) % every === 0)
}

/** One chart for each rate, because their thresholds are far apart. */
function chartsOf(points: ReturnType<typeof soFar>, settings: Thresholds): Chart[] {
  // One point makes no line.
  if (points.length < 2) return []
  return (['bounces', 'complaints'] as const).map((name) => ({
    title: `${name === 'bounces' ? 'Bounce' : 'Complaint'} rate, counted since the window began`,
    labels: points.map(({ label }) => label),
    series: [
      {
        label: name,
        tone: name === 'bounces' ? 'c2' : 'c4',
        values: points.map((one) => one[name]),
      },
    ],
    write: shownRate,
    limit: { label: 'pauses at', value: settings[name].pause / 1e6 },
  }))
}

/** The addresses that complained, with the mail where it is known. */
async function complaintsPage(deps: OperatorPageDeps, visit: OperatorVisit) {
  const { head } = await headOf(deps, visit)
  const path = `/operator/accounts/${head.id}/complaints`
  const { rows: shown, ...beside } = await listOf({ path, query: visit.query }, async (after) => {
    const found = await listSuppressions(deps.store.read, head.id, {
      reason: 'complaint',
      ...(after !== undefined && { after: { email: after, reason: 'complaint' } }),
      limit: perPage + 1,
    })
    return pageOf(found, perPage, ({ email }) => email)
  })
  const view = {
    head,
    rows: shown.map(({ email, createdAt, detail, emailId }) => ({
      email,
      createdAt,
      detail: detail ?? '',
      mail: emailId === null ? undefined : `/a/${head.id}/emails/${emailId}`,
    })),
    ...beside,
  }
  return page('operator/account-complaints', view, { title: `Complaints about ${head.name}` })
}
