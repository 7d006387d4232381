import type {
  AudienceCount,
  Broadcast,
  BroadcastStatus,
  WhyLeftOut,
} from '../../broadcasts/index.js'
import { whomOf } from '../../broadcasts/index.js'
import { byHandWords } from '../segments/words.js'
import type { Tone } from '../shell/parts.js'

/** How a campaign stands, in words. */
const campaignChips: Readonly<Record<BroadcastStatus, { text: string; tone: Tone }>> = {
  draft: { text: 'Draft', tone: 'none' },
  scheduled: { text: 'Scheduled', tone: 'doubt' },
  sending: { text: 'Sending', tone: 'good' },
  paused: { text: 'Paused', tone: 'doubt' },
  sent: { text: 'Sent', tone: 'good' },
  cancelled: { text: 'Cancelled', tone: 'none' },
  failed: { text: 'Could not be sent', tone: 'bad' },
}

/** The same of one campaign: one whose first recipient's time has not come, by their own clock, has not begun for anybody. */
export const chipOf = ({
  status,
  local_zone,
  recipients,
}: Pick<Broadcast, 'status' | 'local_zone' | 'recipients'>) =>
  campaignChips[waitsForFirstClock({ status, local_zone, recipients }) ? 'scheduled' : status]

/** Whether one that goes by own clocks has begun for nobody, as the first recipient's time has not come. */
export const waitsForFirstClock = ({
  status,
  local_zone,
  recipients,
}: Pick<Broadcast, 'status' | 'local_zone' | 'recipients'>): boolean =>
  status === 'sending' && local_zone !== null && recipients === 0

/** What a campaign is called where people read it. */
export const campaignName = ({ name, subject }: Pick<Broadcast, 'name' | 'subject'>) =>
  name || subject || 'Campaign without a subject'

export const shown = (count: number) => count.toLocaleString('en-GB')

/** Whom a campaign goes to, by the names of its lists and segments; `gone`: of those that are deleted. */
export function whomWords(
  broadcast: Pick<Broadcast, 'list_id' | 'whom'>,
  { names, gone }: AudienceNames,
): string {
  const { lists, segments, withoutLists, withoutSegments } = whomOf(broadcast)
  const wasCalled = (id: string, unknown: string) => {
    const name = gone.get(id)
    return name === undefined ? unknown : `${name} (deleted)`
  }
  const named = (ids: readonly string[], unknown: string) =>
    ids.map((id) => names.get(id) ?? wasCalled(id, unknown))
  const both = (ofLists: readonly string[], ofSegments: readonly string[]) =>
    [...named(ofLists, 'a deleted list'), ...named(ofSegments, 'a deleted segment')].join(', ')
  const within = both(lists, segments)
  const without = both(withoutLists, withoutSegments)
  if (within === '') return 'Nobody yet'
  return without === '' ? within : `${within}, without ${without}`
}

/** What lists and segments are called that are there, and what those were that are deleted. */
export interface AudienceNames {
  names: ReadonlyMap<string, string>
  gone: ReadonlyMap<string, string>
}

/** Whether a list or segment of its audience is deleted; `names`: of those that are there. */
export const isAudienceGone = (
  broadcast: Pick<Broadcast, 'list_id' | 'whom'>,
  { names }: AudienceNames,
): boolean =>
  Object.values(whomOf(broadcast))
    .flat()
    .some((id) => !names.has(id))

const reasons = [
  ['unsubscribed', 'unsubscribed'],
  ['bounced', 'with an address that bounced'],
  ['complained', 'who complained'],
] as const

/** Why people are not mailed, with how many of each. */
export const whyWords = (
  counts: Readonly<Record<WhyLeftOut, number>> & { erased?: number },
): string[] =>
  [
    ...reasons.map(([name, words]) => [words, counts[name]] as const),
    ...byHandWords(counts.suppressed, counts.erased),
    ['who left the topic', counts.leftTopic] as const,
  ].flatMap(([words, count]) => (count > 0 ? [`${shown(count)} ${words}`] : []))

/** How many an audience has and how many of them get it, as a sentence. */
export function countWords(counts: AudienceCount | undefined): string {
  if (counts === undefined) return 'Not counted yet.'
  const { fit, reachable } = counts
  const others = whyWords(counts)
  const people = `${shown(fit)} ${fit === 1 ? 'person' : 'people'}`
  const rest = others.length === 0 ? '' : ` Not mailed: ${others.join(', ')}.`
  return `${people}, of whom ${shown(reachable)} can be mailed.${rest}`
}

/** As the row has them. */
export const countsOf = ({ counts }: Pick<Broadcast, 'counts'>): AudienceCount | undefined =>
  counts === null ? undefined : (JSON.parse(counts) as AudienceCount)
