import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import { outweighsPixel, type Switches, trackingOf } from '../tracking/index.js'
import type { Broadcast } from './broadcast.js'

/** What says whether opens and clicks are measured. */
export interface MeasureDeps {
  store: { read: Read }
  /** Of the settings; undefined: nobody out there could ask for a pixel, or follow a tracked link. */
  tracking: Switches | undefined
}

/** Why nobody knows who opened a campaign, or clicked in it; null: it is measured. */
export interface Unmeasured {
  opens: string | null
  clicks: string | null
}

/** What pages say of a campaign whose opens were not measured. */
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

/** What of a campaign is not measured. One that people have opened and clicked costs no look-up. */
export async function unmeasuredOf(
  { store: { read }, tracking }: MeasureDeps,
  broadcast: Measured,
): Promise<Unmeasured> {
  // Somebody was seen: whatever the switches say now, they were on.
  const [isOpened, isClicked] = [broadcast.opened > 0, broadcast.clicked > 0]
  if (isOpened && isClicked) return { opens: null, clicks: null }
  // Of a domain that is gone nothing is known, and its mail is said to be tracked.
  const switches = tracking && (await trackingOf(read, broadcast.domain_id, tracking))
  const isTracked = (what: keyof Switches) => tracking !== undefined && switches?.[what] !== false
  const opens = isTracked('opens') ? await whyNoPixel(read, broadcast) : 'untracked'
  return {
    opens: isOpened || opens === null ? null : opensWords[opens],
    clicks: isClicked || isTracked('clicks') ? null : clicksNotTracked,
  }
}

type Measured = Pick<Broadcast, 'id' | 'body_id' | 'domain_id' | 'opened' | 'clicked'>

/** Whether opens are not seen for nothing but that the mail is short. */
export const isTooShortForOpens = async (
  { store: { read }, tracking }: MeasureDeps,
  broadcast: Measured,
): Promise<boolean> => {
  const switches = tracking && (await trackingOf(read, broadcast.domain_id, tracking))
  const isTracked = tracking !== undefined && switches?.opens !== false
  return isTracked && (await whyNoPixel(read, broadcast)) === 'light'
}

/** Whether it could be seen who opens a campaign. */
export const opensMeasured = async (deps: MeasureDeps, broadcast: Measured): Promise<boolean> =>
  (await whyUnmeasured(deps, broadcast)) === undefined

/**
 * Why it cannot be seen who opens a campaign; undefined: it can. Where its content is no longer kept, it is taken for one
 * whose opens are counted if they are tracked.
 */
export const whyUnmeasured = async (
  deps: MeasureDeps,
  broadcast: Measured,
): Promise<string | undefined> => (await unmeasuredOf(deps, broadcast)).opens ?? undefined

/** Why none of its mails has the picture that counts opens, where they are tracked; null: one has. */
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

/** Throws a 400 where somebody asks for who has not opened a campaign, and nobody knows. */
export async function requireOpensMeasured(
  deps: MeasureDeps,
  broadcast: Measured,
  { who }: { who?: string | undefined },
): Promise<void> {
  const why = who === 'not_opened' ? await whyUnmeasured(deps, broadcast) : undefined
  if (why !== undefined) throw new ApiError('validation_error', opensUnmeasured(why))
}
