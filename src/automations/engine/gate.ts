import {
  type AccountBilling,
  dayEndsAt,
  type MailType,
  monthEndsAt,
  type Plans,
  readBilling,
  readUsage,
} from '../../billing/index.js'
import { hourMs } from '../../clock/index.js'
import type { Backlog } from '../../deliveries/index.js'
import { findSenderDomain } from '../../domains/index.js'
import { ApiError } from '../../errors/index.js'
import type { JsonObject } from '../../json/index.js'
import { type Mailbox, parseMailbox } from '../../mime/index.js'
import type { Read } from '../../store/index.js'
import { findTopic } from '../../topics/index.js'
import {
  type BlockedReason,
  type FilledSubject,
  type FrozenVersion,
  fillIn,
  type MailTemplate,
  type makeMailTemplates,
  type Obstacle,
  type StepOf,
} from '../definition/index.js'
import { capOf, capsOf, type Quota } from './hourly-cap.js'

/** A step that sends a mail. */
export type SendStep = StepOf<'send_email'>

/** What a send step needs, found before the walk. */
export interface Prepared {
  template: MailTemplate
  from: Mailbox
  domainId: string
}

/** Whether mails of an account can be made now; it counts those that it lets through. */
export interface SendGate {
  billing: AccountBilling
  /** Why all runs of the account wait, whatever they do next, and until when. */
  standstill: Extract<Obstacle, { kind: 'blocked' }> | undefined
  forRun(): RunGate
  prepared(version: FrozenVersion, step: SendStep): Prepared
  /** What `obstacle` has merged already; undefined: the template needs the engine. */
  filled(variables: JsonObject): FilledSubject | undefined
}

/** The gate as one run comes to it. */
export interface RunGate {
  obstacle(version: FrozenVersion, step: SendStep, variables: JsonObject): Obstacle | undefined
  /** Takes this run's mails out of the count: the run is walked anew, or makes none. */
  takeBack(): void
}

/** What the gate needs; `maxQueued` is how many deliveries of all accounts may wait. */
export interface GateDeps {
  read: Read
  plans: Plans
  backlog: Backlog
  maxQueued: number
  templates: ReturnType<typeof makeMailTemplates>
}

// When a blocked run is looked at again, where nothing says when the block ends.
const queueLookMs = 60_000
const stateLookMs = 300_000
// A quota ends with its month or day, but an operator may give a larger plan sooner.
const quotaLookMs = hourMs

/**
 * Decides once for a batch what may be sent, and keeps count while the batch is planned: each mail of a batch uses up
 * room of the next ones. The write counts again, since other threads send too.
 */
export async function openGate(
  deps: GateDeps,
  accountId: string,
  versions: readonly FrozenVersion[],
  now: number,
): Promise<SendGate> {
  const { read, plans, backlog, maxQueued } = deps
  const billing = await readBilling(read, plans, accountId)
  const quotas = await quotasOf(read, billing, now)
  const caps = await capsOf(read, versions, now)
  const ready = await readySteps(deps, accountId, versions, now)
  const stops = {
    transactional: stopOf(billing, 'transactional'),
    marketing: stopOf(billing, 'marketing'),
  }
  const known = new WeakMap<JsonObject, FilledSubject>()
  const room: Quota = { left: backlog.left(maxQueued), until: now + queueLookMs }

  const found = ({ automationId, version }: FrozenVersion, { key }: SendStep) =>
    ready.get(`${automationId} ${version} ${key}`)
  const forRun = (): RunGate => {
    const counted: Quota[] = []
    return {
      obstacle(version, step, variables) {
        const type = typeOf(step)
        const prepared = found(version, step)
        if (prepared === undefined) return failed('template_missing')
        if ('kind' in prepared) return prepared
        const stop = stops[type]
        if (stop !== undefined) return blocked(stop, now + stateLookMs)
        const filled = fillIn(prepared.template, variables)
        if (filled !== undefined && 'fault' in filled) return failed(filled.fault)
        const quota = quotas[type].find(({ left }) => left <= 0)
        if (quota !== undefined) return blocked('quota', quota.until)
        const cap = capOf(caps, version)
        if (cap !== undefined && cap.own.left <= 0) return blocked('cap', cap.own.until)
        if (room.left <= 0) return blocked('queue_full', room.until)
        const uses = [room, ...(cap?.uses ?? []), ...quotas[type]]
        for (const one of uses) one.left -= 1
        counted.push(...uses)
        if (filled !== undefined) known.set(variables, filled)
        return undefined
      },
      takeBack() {
        for (const one of counted.splice(0)) one.left += 1
      },
    }
  }
  return {
    billing,
    standstill: billing.suspended === null ? undefined : blocked('suspended', now + stateLookMs),
    forRun,
    prepared(version, step) {
      const prepared = found(version, step)
      if (prepared === undefined || 'kind' in prepared) throw new Error(`${step.key} cannot send`)
      return prepared
    },
    filled: (variables) => known.get(variables),
  }
}

/** The type of a step's mail; marketing where it says none. */
export const typeOf = ({ config: { type = 'marketing' } }: SendStep): MailType => type

/** The mail can never be made: the run fails at this step. */
const failed = (reason: string): Obstacle => ({ kind: 'failed', reason })
/** The mail cannot be made now: the run waits at this step, and is looked at again at `until`. */
const blocked = (reason: BlockedReason, until: number) =>
  ({ kind: 'blocked', reason, until }) as const

/** Why an account's mail of a type is not made at all. */
function stopOf(billing: AccountBilling, type: MailType): BlockedReason | undefined {
  const { suspended, state, paused, marketingPlan, marketingPaused } = billing
  if (suspended !== null) return 'suspended'
  if (paused !== null) return 'paused'
  if (state === 'expired') return 'plan'
  if (type === 'transactional') return undefined
  if (marketingPlan === null) return 'plan'
  return marketingPaused === null ? undefined : 'paused'
}

/**
 * A mail without room waits until the quota begins again, but is looked at every now and then: an operator may have
 * given a larger plan.
 */
async function quotasOf(
  read: Read,
  { accountId, plan, marketingPlan }: AccountBilling,
  now: number,
): Promise<Record<MailType, Quota[]>> {
  const { monthMails, dayMails, monthCampaignMails } = await readUsage(read, accountId, now)
  const quota = (limit: number | null, used: number, until: number): Quota[] =>
    limit === null ? [] : [{ left: limit - used, until: Math.min(until, now + quotaLookMs) }]
  return {
    // The monthly quota first: the next day does not help an account that has used up its month.
    transactional: [
      ...quota(plan.monthlyLimit, monthMails, monthEndsAt(now)),
      ...quota(plan.dailyLimit, dayMails, dayEndsAt(now)),
    ],
    marketing: quota(marketingPlan?.monthlySendLimit ?? null, monthCampaignMails, monthEndsAt(now)),
  }
}

/** Every send step of these versions with its template and sender, or what is wrong with them. */
async function readySteps(
  { read, templates }: GateDeps,
  accountId: string,
  versions: readonly FrozenVersion[],
  now: number,
): Promise<Map<string, Prepared | Obstacle>> {
  const ready = new Map<string, Prepared | Obstacle>()
  for (const { automationId, version, compiled } of versions) {
    for (const { step } of compiled.byKey.values()) {
      if (step.type !== 'send_email') continue
      const { config } = step
      const template = await templates(read, accountId, config)
      const from = parseMailbox(config.from)
      const domain = from && (await findSenderDomain(read, accountId, from.domain))
      const name = `${automationId} ${version} ${step.key}`
      if (template === undefined) ready.set(name, failed('template_missing'))
      else if (!(await isSendable(read, accountId, config.topicId))) {
        ready.set(name, failed('topic_archived'))
      } else if (from === undefined || domain?.status !== 'verified') {
        ready.set(name, blocked('domain', now + stateLookMs))
      } else ready.set(name, { template, from, domainId: domain.id })
    }
  }
  return ready
}

/**
 * Whether mail may be sent on the topic. A topic that is archived or gone fails the run, as a missing template does:
 * nothing says when it would be restored.
 */
async function isSendable(read: Read, accountId: string, topicId: string | undefined) {
  if (topicId === undefined) return true
  try {
    await findTopic(read, accountId, topicId.toLowerCase())
    return true
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return false
    throw error
  }
}
