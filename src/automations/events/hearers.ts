import type { Read } from '../../store/index.js'
import { readableVersion, type Versions } from '../definition/index.js'

/** An enabled automation that an event means something to. */
export interface Hearer {
  automationId: string
  name: string
  /**
   * `starts`: the event begins it; `waits`: a step waits for the event; `ends`: the event ends a run or is the goal.
   */
  how: 'starts' | 'waits' | 'ends'
}

/**
 * The account's enabled automations that hear events, by the event's name: at most 200, whose versions are kept
 * compiled.
 */
export async function hearersOf(
  read: Read,
  versions: Versions,
  accountId: string,
): Promise<ReadonlyMap<string, readonly Hearer[]>> {
  const triggers = await read
    .selectFrom('automation_triggers as triggers')
    .innerJoin('automations', 'automations.id', 'triggers.automation_id')
    .select(['triggers.event', 'automation_id as automationId', 'triggers.version', 'name'])
    .where('triggers.account_id', '=', accountId)
    .execute()
  const hearers = new Map<string, Hearer[]>()
  const note = (event: string, hearer: Hearer) =>
    hearers.set(event, [...(hearers.get(event) ?? []), hearer])
  for (const { event, automationId, version, name } of triggers) {
    note(event, { automationId, name, how: 'starts' })
    const frozen = await readableVersion(versions, read, { automationId, version })
    for (const one of new Set(frozen?.waitsFor)) note(one, { automationId, name, how: 'waits' })
    for (const one of new Set(frozen?.listens)) note(one, { automationId, name, how: 'ends' })
  }
  return hearers
}
