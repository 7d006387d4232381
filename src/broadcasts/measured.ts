import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import { outweighsPixel, type Switches, trackingOf } from '../tracking/index.js'
import type { Broadcast } from './broadcast.js'

/** What tells whether opens and clicks are measured. */
export interface MeasureDeps {
  store: { read: Read }
  /** The setting; undefined: nobody outside could load a pixel, or follow a tracked link. */
  tracking: Switches | undefined
}

/** Why nobody knows who opened a campaign, or clicked in it; null: that is measured. */
export interface Unmeasured {
  opens: string | null
  clicks: string | null
}

/** What pages say about a campaign whose opens were not measured. */
export const opensUnmeasured = (why: string): string =>
  `Opens of this campaign were not measured: ${why}. So nobody knows who has not opened it. Clicks are counted where links are tracked.`

/** Why nobody sees who opens it: opens are not tracked, or its mail is too short for the picture that counts them. */
type WhyUnopened = 'untracked' | 'light'
const opensWords: Readonly<Record<WhyUnopened, string>> = {
  untracked: 'opens are not tracked',
  light:
    'its mail has no picture and few words, and the unseen picture that counts opens would make it look like spam',
}
const clicksNotTracked = 'clicks are not tracked'

/** What of a campaign is not measured. A campaign with opens and clicks by people costs no look-up. */
export async function unmeasuredOf(
  { store: { read }, tracking }: MeasureDeps,
  broadcast: Measured,
): Promise<Unmeasured> {
  // Somebody was seen, so the switches were on, whatever they say now.
  const [isOpened, isClicked] = [broadcast.opened > 0, broadcast.clicked > 0]
  if (isOpened && isClicked) return { opens: null, clicks: null }
  // Nothing is known of a deleted domain, so its mail counts as tracked.
  const switches = tracking && (await trackingOf(read, broadcast.domain_id, tracking))
  const isTracked = (what: keyof Switches) => tracking !== undefined && switches?.[what] !== false
  const opens = isTracked('opens') ? await whyNoPixel(read, broadcast) : 'untracked'
  return {
    opens: isOpened || opens === null ? null : opensWords[opens],
    clicks: isClicked || isTracked('clicks') ? null : clicksNotTracked,
  }
}

type Measured = Pick<Broadcast, 'id' | 'body_id' | 'domain_id' | 'opened' | 'clicked'>

/** Whether opens are not seen only because the mail is too short. */
export const isTooShortForOpens = async (
  { store: { read }, tracking }: MeasureDeps,
  broadcast: Measured,
): Promise<boolean> => {
  const switches = tracking && (await trackingOf(read, broadcast.domain_id, tracking))
  const isTracked = tracking !== undefined && switches?.opens !== false
  return isTracked && (await whyNoPixel(read, broadcast)) === 'light'
}

/** Whether opens of a campaign could be seen. */
export const opensMeasured = async (deps: MeasureDeps, broadcast: Measured): Promise<boolean> =>
  (await whyUnmeasured(deps, broadcast)) === undefined

/**
 * Why opens of a campaign cannot be seen; undefined: they can. Where its content is no longer kept, opens are assumed
 * to be counted if they are tracked.
 */
export const whyUnmeasured = async (
  deps: MeasureDeps,
  broadcast: Measured,
): Promise<string | undefined> => (await unmeasuredOf(deps, broadcast)).opens ?? undefined

/** Why none of its mails has the picture that counts opens, where they are tracked; null: one has it. */
async function whyNoPixel(read: Read, { id, body_id, opened }: Measured): Promise<'light' | null> {
  if (opened > 0) return null
  const own = await read
    .selectFrom('broadcast_variants')
    .select('body_id')
    .where('broadcast_id', '=', id)
    .where('body_id', 'is not', null)
    .execute()
  const ids = [body_id, ...own.flatMap((one) => (one.body_id === null ? [] : [one.body_id]))]
  const bodies = await read.selectFrom('bodies').select('html').where('id', 'in', ids).execute()
  const isSeen = bodies.length === 0 || bodies.some(({ html }) => outweighsPixel(html ?? ''))
  return isSeen ? null : 'light'
}

/** Throws a 400 where somebody asks for people who have not opened a campaign, and nobody knows that. */
export async function requireOpensMeasured(
  deps: MeasureDeps,
  broadcast: Measured,
  { who }: { who?: string | undefined },
): Promise<void> {
  const why = who === 'not_opened' ? await whyUnmeasured(deps, broadcast) : undefined
  if (why !== undefined) throw new ApiError('validation_error', opensUnmeasured(why))
}
