import { audienceUses } from '../../broadcasts/index.js'
import { type SegmentUse, usesOfSegment } from '../../segments/index.js'
import type { Read } from '../../store/index.js'

/** All that another rule of a segment changes something for: what uses it, and what uses the segments that ask for it. */
export async function affectedBy(
  read: Read,
  accountId: string,
  segmentId: string,
): Promise<SegmentUse[]> {
  const found = new Map<string, SegmentUse>()
  const todo = [segmentId]
  for (let id = todo.shift(); id !== undefined; id = todo.shift()) {
    for (const use of await usesOfSegment(read, audienceUses, accountId, id)) {
      if (found.has(use.id)) continue
      found.set(use.id, use)
      if (use.kind === 'segment') todo.push(use.id)
    }
  }
  return [...found.values()]
}
