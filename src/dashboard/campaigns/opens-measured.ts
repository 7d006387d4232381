import type { Broadcast } from '../../broadcasts/index.js'
import { ApiError } from '../../errors/index.js'
import type { Read } from '../../store/index.js'
import { hasPixel, type Switches } from '../../tracking/index.js'

/** What says whether opens are measured. */
export interface OpensDeps {
  store: { read: Read }
  /** Of the settings; undefined: nobody out there could ask for a pixel. */
  tracking: Switches | undefined
}

/** What pages say of a campaign whose opens were not measured. */
export const opensUnmeasured =
  'Opens of this campaign were not measured: opens are not tracked, or its mail has no picture and so few words that the picture that counts opens would make it look like spam. So nobody knows who has not opened it. Clicks are counted where links are tracked.'

/** Whether it could be seen who opens a campaign; where its content is no longer kept, it is said to be. */
export async function opensMeasured(
  { store: { read }, tracking }: OpensDeps,
  { id, body_id, domain_id: domainId, opened }: Broadcast,
): Promise<boolean> {
  // Somebody was seen: whatever the switches say now, they were on.
  if (opened > 0) return true
  const own = await read
    .selectFrom('broadcast_variants')
    .select('body_id')
    .where('broadcast_id', '=', id)
    .where('body_id', 'is not', null)
    .execute()
  const ids = [body_id, ...own.flatMap((one) => (one.body_id === null ? [] : [one.body_id]))]
  const bodies = await read.selectFrom('bodies').select('html').where('id', 'in', ids).execute()
  for (const html of bodies.length === 0 ? [aPicture] : bodies.map((one) => one.html ?? '')) {
    if (await hasPixel(read, { domainId, html }, tracking)) return true
  }
  return false
}

// Of a content that is gone the switches alone are known.
const aPicture = '<img>'

/** Throws a 400 where a page asks for who has not opened a campaign, and nobody knows. */
export async function requireOpensMeasured(
  deps: OpensDeps,
  broadcast: Broadcast,
  { who }: { who: string },
): Promise<void> {
  if (who !== 'not_opened' || (await opensMeasured(deps, broadcast))) return
  throw new ApiError('validation_error', opensUnmeasured)
}
