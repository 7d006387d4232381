import { counted, shownCount } from '../../amounts/index.js'
import { stoppedForClient } from '../../billing/index.js'
import {
  type Broadcast,
  type BroadcastReport,
  hasRest,
  lastLeavesAt,
  laterSpan,
  paceOf,
} from '../../broadcasts/index.js'
import { hourMs } from '../../clock/index.js'
import { type GateOf, type LiveGate, putOffOf, streamsOfCampaign } from '../../deliveries/index.js'
import type { Read } from '../../store/index.js'
import { gateInWords, whyWaits } from '../emails/waiting.js'
import { exactWithZone } from '../format.js'

/** How far a campaign is that sends. */
export interface SendingView {
  done: number
  toMake: number
  text: string
  facts: { label: string; value: string }[]
  /** The largest: arrived, put off, bounced. */
  providers: { name: string; cells: string[] }[]
  /** Why it is slow, or stands still. */
  why: { title: string; says: string; count: string; href: string }[]
}

/** Whether mails of it are still to leave; one that is paused goes on later. */
export const isOnItsWay = ({ status, sent_at }: Pick<Broadcast, 'status' | 'sent_at'>) =>
  status === 'sending' || (status === 'paused' && sent_at !== null)

interface SendingDeps {
  store: { read: Read }
  gateOf: GateOf
}

// More says nothing more, each is a search for its mail, and each lane costs a question to an outbound thread.
const mostCounted = 5_000
const lanesShown = 3
const providersShown = 6
const lanesAsked = 20

/** Made, left, delivered, put off, bounced, the rate, the time left, and why it is slow. */
export async function sendingView(
  { store: { read }, gateOf }: SendingDeps,
  report: BroadcastReport,
  of: {
    broadcast: Broadcast
    base: string
    now: number
    /** Its test is made, and the rest waits for the version that is chosen. */
    waits: boolean
    /** Of who looks at it. */
    zone: string
  },
): Promise<SendingView> {
  const { broadcast, base, now, waits, zone } = of
  const { account_id: accountId, id: broadcastId, audience } = broadcast
  const { progress, total } = report
  const [stop, putOff] = await Promise.all([
    stoppedForClient(read, accountId, 'marketing'),
    putOffOf(read, accountId, { most: mostCounted, lanes: lanesShown, broadcastId }),
  ])
  const toMake = Math.max(audience, progress.recipients)
  const done = progress.recipients - progress.waiting
  const perHour = rateOf(report, now)
  const ageMs = now - (broadcast.sent_at ?? now)
  const later = broadcast.local_zone === null ? undefined : await laterSpan(read, broadcastId)
  const leftMs = timeLeft(broadcast, { people: toMake - done, perHour, now })
  const lanes = await Promise.all(
    putOff.lanes.map(async ({ lane, deliveries, first }) => {
      const { gate, says } = await whyWaits({ read, now, gateOf }, first)
      return {
        lane,
        gate,
        title: `${lane}: ${gate}`,
        says: says.replaceAll(uuid, '…'),
        count: counted(deliveries, 'mail of this campaign waits', 'mails of this campaign wait'),
        href: `${base}/emails/${first.emailId}`,
      }
    }),
  )
  const isPaused = broadcast.status === 'paused'
  const stopped =
    stop === undefined
      ? []
      : [
          {
            title: 'Campaigns of this account are stopped',
            says: stop,
            count: '',
            href: `${base}/plan`,
          },
        ]
  return {
    done,
    toMake,
    text: `${shownCount(done)} of ${shownCount(toMake)} mails are done`,
    facts: [
      { label: 'Made', value: shownCount(progress.recipients) },
      { label: 'Left to send', value: shownCount(toMake - done) },
      { label: 'Put off so far', value: counted(total.deferred, 'time') },
      { label: 'Bounced', value: shownCount(progress.bounced) },
      // What has left says nothing of a rest that waits for somebody, or for a time.
      ...(waits ? [restWaits] : [rateFact(perHour, ageMs)]),
      ...(waits || isPaused ? [] : [leftFact(broadcast, { leftMs, later, zone })]),
    ],
    providers: report.providers.slice(0, providersShown).map((one) => ({
      name: one.provider === '*' ? 'All others' : one.provider,
      cells: [one.delivered + one.relayed, one.deferred, one.bouncedHard + one.bouncedSoft].map(
        shownCount,
      ),
    })),
    // What holds up one that somebody has paused is the pause, which is said above.
    why: isPaused
      ? stopped
      : [
          ...stopped,
          ...(await gatesOf({ read, gateOf }, { accountId, broadcastId, told: lanes })),
          ...lanes,
        ],
  }
}

// Servers put them into their replies; the mail's own page has these word for word.
const uuid = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi

/** How long the rest takes (ms), as fast as it leaves now and its own rate and hours allow; undefined: nothing tells. */
function timeLeft(
  broadcast: Broadcast,
  { people, perHour, now }: { people: number; perHour: number; now: number },
): number | undefined {
  const { rate: own, window } = paceOf(broadcast)
  const most = own ?? Number.POSITIVE_INFINITY
  // Its mails are made a minute ahead: where no more of them wait, it leaves as fast as it may, which may have been changed.
  const isHeldUp = broadcast.waiting > (most / 60) * 2
  const rate = perHour > 0 && (own === null || isHeldUp) ? Math.min(perHour, most) : most
  if (!Number.isFinite(rate)) return undefined
  const end = lastLeavesAt(now, { people, rate, window })
  return end === undefined ? undefined : end - now
}

/**
 * What holds up mails of the campaign before their first attempt: said once, however many domains wait for it. `told`: what
 * is said already of mails that were put off, which wait for the same, as at a provider with a brake.
 */
async function gatesOf(
  { read, gateOf }: { read: Read; gateOf: SendingDeps['gateOf'] },
  {
    told,
    ...of
  }: { accountId: string; broadcastId: string; told: readonly { lane: string; gate: string }[] },
): Promise<SendingView['why']> {
  const streams = await streamsOfCampaign(read, { limit: lanesAsked, ...of })
  const gates = await Promise.all(streams.map(({ node, ...stream }) => gateOf(stream, node)))
  const said = new Map<string, { gate: LiveGate; lanes: string[] }>()
  for (const [i, gate] of gates.entries()) {
    // Who is in line moves on.
    if (gate === undefined || gate.gate === 'turn' || gate.gate === 'dns') continue
    const lane = streams[i]?.lane ?? ''
    const words = gateInWords(gate.gate)
    if (told.some((known) => known.lane === lane && known.gate === words)) continue
    const says = gate.plain ?? gate.says
    const one = said.get(says) ?? { gate, lanes: [] }
    one.lanes.push(lane)
    said.set(says, one)
  }
  return [...said].map(([says, { gate, lanes }]) => ({
    title: `${lanes.slice(0, lanesShown).join(', ')}${lanes.length > lanesShown ? ` and ${lanes.length - lanesShown} more` : ''}: ${gateInWords(gate.gate)}`,
    says: `${says.replaceAll(uuid, '…')}.`,
    count: '',
    href: '',
  }))
}

const restWaits = {
  label: 'The rest',
  value: 'waits until a version is chosen for it',
}

const rateFact = (perHour: number, ageMs: number) => ({
  label: 'Rate',
  value: rateWords(perHour, ageMs),
})

function rateWords(perHour: number, ageMs: number): string {
  if (perHour > 0) return `${shownCount(Math.round(perHour))} an hour`
  return ageMs < leastMs ? 'it has just begun' : 'nothing in the last hour'
}

/** What is left: by the clocks of those who get it later, or as fast as it leaves. */
function leftFact(
  broadcast: Broadcast,
  {
    leftMs,
    later,
    zone,
  }: {
    leftMs: number | undefined
    later: { next: number; last: number } | undefined
    zone: string
  },
) {
  const label = 'Time left'
  if (later === undefined) {
    return { label, value: leftMs === undefined ? 'unknown' : aboutTime(leftMs) }
  }
  const [next, last] = [later.next, later.last].map((at) => exactWithZone(at, zone))
  const rest = hasRest(broadcast) ? '; then a version is chosen for the rest' : ''
  return { label, value: `by own clocks: the next at ${next}, the last at ${last}${rest}` }
}

const leastMs = 60_000

/** Mails an hour, by what has ended in this hour and the one before. */
function rateOf({ overTime, sentAt }: BroadcastReport, now: number): number {
  const from = Math.max(now - (now % hourMs) - hourMs, Date.parse(sentAt ?? '') || 0)
  const ended = overTime
    .filter(({ at }) => Date.parse(at) + hourMs > from)
    .reduce((sum, { delivered, bounced }) => sum + delivered + bounced, 0)
  // Of less than a minute no rate of an hour is told.
  return now - from < leastMs ? 0 : (ended / (now - from)) * hourMs
}

function aboutTime(ms: number): string {
  const minutes = Math.ceil(ms / 60_000)
  if (minutes < 100) return `about ${counted(minutes, 'minute')}`
  const hours = Math.round(minutes / 60)
  return hours < 48
    ? `about ${counted(hours, 'hour')}`
    : `about ${counted(Math.round(hours / 24), 'day')}`
}
