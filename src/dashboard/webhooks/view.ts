import { isoTime, utcTime } from '../../clock/index.js'
import { type WebhookDelivery, type WebhookEndpoint, webhookEvents } from '../../webhooks/index.js'
import { type Moment, moment, plural } from '../format.js'
import type { Tone } from '../shell/parts.js'

/** An endpoint as its pages show it. */
export interface EndpointView {
  id: string
  url: string
  /** The beginning of its URL, which may have 2,048 characters. */
  title: string
  /** The address of its page. */
  page: string
  state: { text: string; tone: Tone }
  /** What the state means; empty where all is well. */
  sentence: string
  events: string
  created: Moment
  /** Until when the earlier secret signs too. */
  oldSecretUntil: string | undefined
}

/** `retried`: a delivery that waits after a failed attempt. */
export function endpointView(
  endpoint: WebhookEndpoint,
  base: string,
  now: number,
  retried?: Pick<WebhookDelivery, 'status' | 'error'>,
): EndpointView {
  const { id, url, events, oldSecretUntil } = endpoint
  const all = events.length === webhookEvents.length
  const named = events.map((event) => event.replace('email.', '')).join(', ')
  return {
    id,
    url,
    title: titleOf(url),
    page: `${base}/webhooks/${id}`,
    ...stateOf(endpoint, retried),
    events: all ? 'all events' : named || 'damaged: delete it and make it again',
    created: moment(endpoint.createdAt, now),
    oldSecretUntil:
      oldSecretUntil === null || oldSecretUntil <= now ? undefined : isoTime(oldSecretUntil),
  }
}

// As much as fits into two lines of a heading.
const longestTitle = 90

const titleOf = (url: string) =>
  url.length > longestTitle ? `${url.slice(0, longestTitle)}…` : url

/**
 * A state in a word, with a sentence where the word is not plain. `failures` are events that were
 * dropped after all attempts; an endpoint may be failing already before that.
 */
function stateOf(
  { enabled, failures, failingSince, disabledBecause, eventsNotKept }: WebhookEndpoint,
  retried: Pick<WebhookDelivery, 'status' | 'error'> | undefined,
) {
  if (!enabled) {
    const why = disabledBecause === null ? '' : `: ${disabledBecause}`
    const full =
      eventsNotKept === 0
        ? ''
        : ` ${plural(eventsNotKept, 'event')} found no more room there and ${eventsNotKept === 1 ? 'is' : 'are'} lost.`
    const sentence = `It is disabled${why}. Nothing is sent to it; what waited and what comes is set aside for a replay.${full}`
    return { state: { text: 'disabled', tone: 'bad' as const }, sentence }
  }
  if (failures === 0 && retried !== undefined) {
    const answer = retried.error ?? `HTTP ${retried.status}`
    const sentence = `The last attempt failed (${answer.slice(0, longestAnswer)}); it is made again.`
    return { state: { text: 'failing', tone: 'doubt' as const }, sentence }
  }
  if (failures === 0) return { state: { text: 'working', tone: 'good' as const }, sentence: '' }
  const since = failingSince === null ? '' : ` since ${utcTime(failingSince)}`
  const sentence = `${plural(failures, 'event')} in a row did not arrive after five attempts each${since}. They are kept for a replay. After 24 hours of failing, and at least 30 events, it is disabled.`
  return { state: { text: 'failing', tone: 'doubt' as const }, sentence }
}

/** One request to an endpoint, as a row. */
export interface DeliveryView {
  id: number
  page: string
  event: string
  state: { text: string; tone: Tone }
  attempts: number
  /** The last answer, in a word. */
  answer: string
  /** When the delivery ended; for one that waits, when it is tried next. */
  at: Moment | undefined
  next: string | undefined
  tried: Moment | undefined
  created: Moment
}

const states: Readonly<Record<WebhookDelivery['outcome'], DeliveryView['state']>> = {
  delivered: { text: 'delivered', tone: 'good' },
  failed: { text: 'failed', tone: 'bad' },
  dropped: { text: 'set aside', tone: 'doubt' },
  waiting: { text: 'waiting', tone: 'none' },
}

// Errors may name an address and a certificate; the delivery's own page has all of it.
const longestAnswer = 80

/** `firstOfMail`: the number of the oldest waiting request about the same mail. */
export function deliveryView(
  { id, event, outcome, attempts, status, error, at, triedAt, createdAt }: WebhookDelivery,
  endpointPage: string,
  now: number,
  firstOfMail?: number,
): DeliveryView {
  const isWaiting = outcome === 'waiting'
  return {
    id,
    event,
    attempts,
    state: states[outcome],
    page: `${endpointPage}/deliveries/${id}`,
    answer: (status === null ? (error ?? '') : `HTTP ${status}`).slice(0, longestAnswer),
    at: isWaiting ? undefined : moment(at, now),
    // Requests about one mail are sent one after the other, so that no receiver gets 'delivered'
    // before 'sent'.
    next: !isWaiting
      ? undefined
      : firstOfMail !== undefined && firstOfMail < id
        ? `after number ${firstOfMail}`
        : waitingFor(at - now),
    tried: triedAt === null ? undefined : moment(triedAt, now),
    created: moment(createdAt, now),
  }
}

/** Rounded up, so that whoever waits that long does not come too early. */
const waitingFor = (ms: number) =>
  ms <= 0 ? 'any moment' : `next attempt in ${Math.ceil(ms / 1_000)} s`
