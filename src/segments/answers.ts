import type { Read } from '../store/index.js'
import { brokenParts, brokenText } from './parts.js'
import { requireSegment, shownSegment, type UsesOfSegment, usesOfSegment } from './segment.js'

/** One segment, as the API and the command show it. Throws a 404. */
export async function segmentAnswer(
  read: Read,
  accountId: string,
  id: string,
  automationsOf?: UsesOfSegment,
) {
  const segment = await requireSegment(read, accountId, id)
  return {
    ...shownSegment(segment),
    broken: (await brokenParts(read, accountId, segment.rule)).map(brokenText),
    usedBy: await usesOfSegment(read, automationsOf, accountId, segment.id),
  }
}
