import { shownBytes } from '../../amounts/index.js'
import {
  type AccountBilling,
  contactCeiling,
  type EmailPlan,
  type Plans,
  pausedMessage,
  readArrived,
  readBilling,
  readUsage,
  suspendedMessage,
} from '../../billing/index.js'
import { contactTotal } from '../../contacts/index.js'
import { storedBytesOf } from '../../contents/index.js'
import { refusedLately } from '../../receiving/index.js'
import type { Store } from '../../store/index.js'
import { type UsageView, usageOf } from '../overview/usage.js'
import { refusedSentence } from '../received/refused.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'

/** The page's values; `mayPlan` shows operators the way to change it. */
interface PlanView {
  name: string
  state: { text: string; tone: Tone }
  /** What is stopped, and who lets it go on. */
  stops: string[]
  usage: (Pick<UsageView, 'label' | 'used' | 'limit' | 'text'> & { hint: string | undefined })[]
  facts: { label: string; value: string }[]
  others: string[][]
  marketing: string[][]
  mayPlan: boolean
  id: string
}

const count = (number: number) => number.toLocaleString('en-GB')
const upTo = (limit: number | null) => (limit === null ? 'No limit' : count(limit))

/** The plans, how the subscription stands, what is used, and what else there is. */
export async function showPlan(
  { store, plans }: { store: Store; plans: Plans },
  { account, now, person }: Visit,
): Promise<PageAnswer> {
  const { read } = store
  const billing = await readBilling(read, plans, account.id)
  const { plan, marketingPlan } = billing
  const used = await readUsage(read, account.id, now)
  const contacts = await contactTotal(read, account.id)
  const arrived = await readArrived(read, account.id, now)
  const refused = await refusedLately(read, account.id, now)
  const storedBytes = await storedBytesOf(read, account.id)
  const ceiling = contactCeiling(plans, billing)
  const view: PlanView = {
    name: plan.name,
    state: stateOf(billing),
    stops: [...stopsOf(billing), ...refused.map(refusedSentence)],
    usage: [
      ...usageOf(billing, used, now, arrived).map((one) => ({ ...one, hint: hintOf(one) })),
      {
        label: 'Contacts',
        used: contacts,
        limit: ceiling ?? undefined,
        text:
          ceiling === null
            ? `${count(contacts)}, no limit`
            : `${count(contacts)} of ${count(ceiling)}`,
        hint: undefined,
      },
      {
        label: 'Storage: mails, files, templates and campaigns',
        used: storedBytes,
        limit: plan.storedBytes ?? undefined,
        text: `${shownBytes(storedBytes)}${plan.storedBytes === null ? ', no limit' : ` of ${shownBytes(plan.storedBytes)}`}`,
        hint: undefined,
      },
    ],
    facts: factsOf(plan, marketingPlan?.name),
    // All plans, as people compare; only an operator can give another one.
    others: plans.email.map((one) => [
      one === plan ? `${one.name} (yours)` : one.name,
      upTo(one.monthlyLimit),
      upTo(one.dailyLimit),
      upTo(one.perHour),
      upTo(one.receivedPerDay),
      upTo(one.domains),
      one.webhooks ? 'Yes' : 'No',
      `${count(one.retentionDays)} days`,
    ]),
    marketing: plans.marketing.map((one) => [
      one === marketingPlan ? `${one.name} (yours)` : one.name,
      count(one.contacts),
      upTo(one.monthlySendLimit),
    ]),
    mayPlan: person.isOperator,
    id: account.id,
  }
  return page('plan/plan', view, { title: 'Plan and usage' })
}

const states: Record<AccountBilling['state'], { text: string; tone: Tone }> = {
  active: { text: 'active', tone: 'good' },
  past_due: { text: 'past due', tone: 'doubt' },
  expired: { text: 'expired', tone: 'bad' },
}
/** A suspension says more than how the subscription stands. */
const stateOf = ({ suspended, state }: AccountBilling) =>
  suspended === null ? states[state] : { text: 'suspended', tone: 'bad' as const }

/** What is stopped now, in sentences. */
function stopsOf({ suspended, state, paused, marketingPaused }: AccountBilling): string[] {
  return [
    suspended !== null && `${suspendedMessage}. Nothing is sent, and nothing can be added.`,
    state === 'expired' &&
      'The subscription has ended: nothing is sent until whoever runs this appliance renews it.',
    state === 'past_due' &&
      'A payment is due: mail goes on, but no contacts, domains, keys or webhooks can be added until it is paid.',
    paused !== null && pausedMessage('All sending is', paused),
    marketingPaused !== null && paused === null && pausedMessage('Marketing is', marketingPaused),
  ].filter((stop) => stop !== false)
}

/** A limit that comes near, in words for who sees no colour. */
function hintOf({ used, limit, resets, refuses }: UsageView): string | undefined {
  // How much mail will come in nobody of the account decides.
  const isNear = limit !== undefined && (used >= 0.8 * limit || refuses !== 'sends are')
  if (!isNear) return undefined
  const until = resets.endsWith('UTC') ? resets : `${resets}, 00:00 UTC`
  return used >= limit
    ? `None is left: ${refuses} refused until ${until}.`
    : `${count(limit - used)} are left until ${until}.`
}

/** What the plans let the account do. */
const factsOf = (plan: EmailPlan, marketing: string | undefined) => [
  { label: 'Email plan', value: plan.name },
  {
    label: 'Marketing plan',
    value: marketing ?? 'None: no campaigns, automations or marketing mail',
  },
  { label: 'Mails an hour', value: upTo(plan.perHour) },
  { label: 'Mails a minute', value: upTo(plan.perMinute) },
  { label: 'Mails that come in a day', value: upTo(plan.receivedPerDay) },
  { label: 'Mails that come in an hour', value: upTo(plan.receivedPerHour) },
  { label: 'Size of a mail that comes in', value: `Up to ${plan.receivedMib} MB` },
  { label: 'Sending domains', value: upTo(plan.domains) },
  { label: 'Webhooks', value: plan.webhooks ? 'Yes' : 'Not in this plan' },
  { label: 'Mails are kept in the log', value: `${count(plan.retentionDays)} days` },
  {
    label: 'Mails that came in are kept',
    value: `${count(plan.retentionDays)} days, with their files`,
  },
  { label: 'Counted in', value: 'Calendar months and days, UTC; each recipient is a mail' },
]
