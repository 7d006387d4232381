import type { AccountBilling, PauseReason } from '../../billing/index.js'
import { type Broadcast, byHandWords, waitsForDecision } from '../../broadcasts/index.js'
import type { Domain } from '../../domains/index.js'
import { type SignupForm, stateOf } from '../../forms/index.js'
import { alarmOf, type ProtectionSettings, rateOf, shownRate } from '../../protection/index.js'
import type { RefusedArrivals } from '../../receiving/index.js'
import type { WebhookEndpoint } from '../../webhooks/index.js'
import { campaignName } from '../campaigns/words.js'
import { refusedSentence } from '../received/refused.js'
import type { Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import type { FiguresView } from './figures.js'
import type { UsageView } from './usage.js'

/** Something that waits for a person, and where it is done. */
export interface Need {
  tone: Tone
  says: string
  /** Undefined: only the operator can. */
  action: { label: string; href: string } | undefined
}

/** What was read of the account, from which `needsOf` concludes. */
interface Known {
  billing: AccountBilling
  domains: readonly Domain[]
  /** None for somebody who may not see them. */
  endpoints: readonly WebhookEndpoint[]
  usage: readonly UsageView[]
  figures: Pick<FiguresView, 'standing'>
  refused: readonly RefusedArrivals[]
  forms: readonly SignupForm[]
  /** Those that are being sent. */
  campaigns: readonly Broadcast[]
  settings: ProtectionSettings
  /** A person has paused it, not account protection by its rates. */
  isPausedByHand: boolean
}

/** The gravest first. */
export function needsOf({ base, may, now }: Visit, known: Known): Need[] {
  const to = (label: string, path: string) => ({ label, href: `${base}${path}` })
  const lookAt = {
    bounce: to('See the bounced mail', '/emails?status=bounced'),
    complaint: to('See who complained', '/suppression?reason=complaint'),
  }
  return [
    ...stops(known, lookAt),
    ...surgeOf(known.billing, may('keys.read') ? to('See what is held', '/surges') : undefined),
    ...warnings(known, lookAt),
    ...refusedOf(known.refused, may('plan.read') ? to('Plan and usage', '/plan') : undefined),
    ...formsOf(known.forms, now, (path) =>
      may('contacts.read') ? to('See the form', path) : undefined,
    ),
    ...choicesOf(known.campaigns, (path) =>
      may('campaigns.read') ? to('See the campaign', path) : undefined,
    ),
    ...capsOf(known.usage, may('plan.read') ? to('Plan and usage', '/plan') : undefined),
    ...domainsOf(known.domains, to),
    ...webhooksOf(known.endpoints, to),
  ]
}

/** What keeps mail from leaving, or from being accepted. */
function stops(
  { billing, isPausedByHand }: Known,
  lookAt: Record<PauseReason, Need['action']>,
): Need[] {
  const { suspended, paused, marketingPaused, state } = billing
  const needs: Need[] = []
  // The operator's note is not the account's business; it may be about others.
  const why = (reason: PauseReason) =>
    `${isPausedByHand ? `by the operator, because of ${reason}s` : `because of too many ${reason}s`}. Mail that was accepted waits; the operator has to clear the pause`
  if (suspended !== null) {
    const says = 'The account is suspended: nothing is sent or accepted. Contact the operator.'
    needs.push({ tone: 'bad', says, action: undefined })
  }
  if (paused !== null) {
    needs.push({
      tone: 'bad',
      says: `All sending is paused ${why(paused)}.`,
      action: lookAt[paused],
    })
  } else if (marketingPaused !== null) {
    const says = `Marketing mail is paused ${why(marketingPaused)}.`
    needs.push({ tone: 'bad', says, action: lookAt[marketingPaused] })
  }
  if (state === 'expired') {
    const says = 'The subscription has ended: nothing is accepted until it is renewed.'
    needs.push({ tone: 'bad', says, action: undefined })
  }
  if (state === 'past_due') {
    const says = 'The renewal failed: sending goes on, but nothing can be added until it is paid.'
    needs.push({ tone: 'doubt', says, action: undefined })
  }
  return needs
}

/** Far more mail than usual, of which the rest is held. */
const surgeOf = ({ surgeId }: AccountBilling, action: Need['action']): Need[] =>
  surgeId === null
    ? []
    : [
        {
          tone: 'bad',
          says: 'Far more mail than usual was handed in, to people who never got any from this account. The rest of it is held until an owner decides.',
          action,
        },
      ]

/** Before a pause: the rates of now call for a warning. */
function warnings(
  { billing, figures, settings }: Known,
  lookAt: Record<PauseReason, Need['action']>,
): Need[] {
  const { standing } = figures
  const reasons = { bounce: 'bounces', complaint: 'complaints' } as const
  return (['bounce', 'complaint'] as const).flatMap((reason): Need[] => {
    if (billing.paused !== null || alarmOf(standing.totals, reason, settings) === undefined) {
      return []
    }
    const { recipients, [reasons[reason]]: count } = standing.totals
    const { pause } = settings[reasons[reason]]
    const says = `${shownRate(rateOf(count, recipients))} of the mail of the last days ended in ${reason}s; at ${shownRate(pause / 1_000_000)} all sending is paused.`
    return [{ tone: 'doubt', says, action: lookAt[reason] }]
  })
}

/** Mail that came in and that the plan has had refused, as long as it goes on. */
const refusedOf = (refused: readonly RefusedArrivals[], action: Need['action']): Need[] =>
  refused.map((one) => ({ tone: 'bad', says: refusedSentence(one), action }))

/** Forms whose confirmations came back. */
const formsOf = (
  forms: readonly SignupForm[],
  now: number,
  to: (path: string) => Need['action'],
): Need[] =>
  forms.flatMap((form): Need[] => {
    const state = stateOf(form, now)
    if (state !== 'careful' && state !== 'stopped') return []
    const says =
      state === 'stopped'
        ? `The form “${form.name}” has stopped itself, as too many of its confirmations came back: nobody who fills it in gets a mail.`
        : `The form “${form.name}” is careful, as some of its confirmations came back.`
    return [{ tone: state === 'stopped' ? 'bad' : 'doubt', says, action: to(`/forms/${form.id}`) }]
  })

/** Campaigns whose test is made, and whose rest waits for somebody to choose a version. */
const choicesOf = (campaigns: readonly Broadcast[], to: (path: string) => Need['action']): Need[] =>
  campaigns.filter(waitsForDecision).flatMap((one): Need[] => {
    const says = byHandWords(one)
    if (says === undefined) return []
    return [
      {
        tone: 'doubt',
        says: `The campaign “${campaignName(one)}” has sent its test. ${says}.`,
        action: to(`/campaigns/${one.id}`),
      },
    ]
  })

/** Counters of the plan from 80 % on, while there is still time to do something. */
const capsOf = (usage: readonly UsageView[], action: Need['action']): Need[] =>
  usage
    .filter(({ used, limit }) => limit !== undefined && used >= limit * 0.8)
    .map(({ label, used, limit = 0, resets }) => ({
      tone: used >= limit ? 'bad' : 'doubt',
      says: `${label}: ${used.toLocaleString('en-GB')} of ${limit.toLocaleString('en-GB')} are used. Counts again from ${resets}.`,
      action,
    }))

// More of them are told in one line, so that they do not push the rest off the page.
const maxDomains = 3

/** Domains whose DNS records were never seen complete. */
function domainsOf(
  domains: readonly Domain[],
  to: (label: string, path: string) => Need['action'],
): Need[] {
  const pending = domains.filter(({ status }) => status === 'pending')
  if (pending.length > maxDomains) {
    const says = `${pending.length} domains are not verified, so nothing can be sent from them.`
    return [{ tone: 'doubt', says, action: to('Domains', '/domains') }]
  }
  return pending.map(({ name }) => ({
    tone: 'doubt',
    says: `${name} is not verified, so nothing can be sent from it.`,
    action: to('See its records', `/domains/${name}`),
  }))
}

/** Endpoints that take no events now, or that were disabled as they took none for a day. */
function webhooksOf(
  endpoints: readonly WebhookEndpoint[],
  to: (label: string, path: string) => Need['action'],
): Need[] {
  return endpoints.flatMap(
    ({ id, url, enabled, failures, disabledBy, disabledBecause }): Need[] => {
      const { host } = new URL(url)
      const action = to('See what it answered', `/webhooks/${id}`)
      // Somebody has disabled it on purpose: that is no need.
      if (!enabled && disabledBy !== 'failures') return []
      if (!enabled)
        return [
          { tone: 'bad', says: `The webhook at ${host} was disabled: ${disabledBecause}.`, action },
        ]
      if (failures === 0) return []
      const says = `The webhook at ${host} fails: its last ${failures === 1 ? 'event' : `${failures} events`} did not arrive. They are kept for a replay.`
      return [{ tone: 'doubt', says, action }]
    },
  )
}
