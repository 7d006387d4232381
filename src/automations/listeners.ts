import { idsOf, prepared, type Tx } from '../store/index.js'
import { triggersOf } from './triggers.js'
import { readableVersion, type Versions } from './versions.js'

/** Whether the contact's event of that name starts something, or a live run of theirs may hear it. */
export type IsHeard = (contactId: string, name: string) => boolean

/**
 * The appliance's own events come with everything that it does, and are kept only where somebody hears
 * them: an enabled automation that begins with one, or a live run that waits for one at any of its steps
 * (what comes before that step counts), or that ends or jumps with it.
 */
export async function readListeners(
  tx: Tx,
  versions: Versions,
  accountId: string,
  { contactIds, names }: { contactIds: readonly string[]; names: readonly string[] },
): Promise<IsHeard> {
  const starting = await triggersOf(tx, {
    accountId,
    names: JSON.stringify(names.map((name) => [name])),
  })
  const starters = new Set(starting.map(({ event }) => event))
  const heard = new Set<string>()
  for (const run of await liveOf(tx, { contactIds: JSON.stringify(contactIds) })) {
    const version = await readableVersion(versions, tx, run)
    for (const name of version === undefined ? [] : [...version.waitsFor, ...version.listens]) {
      heard.add(`${run.contactId} ${name}`)
    }
  }
  return (contactId, name) => starters.has(name) || heard.has(`${contactId} ${name}`)
}

interface LiveRun {
  contactId: string
  automationId: string
  version: number
}

const liveOf = prepared<{ contactIds: string }, LiveRun>((db, { contactIds }) =>
  db
    .selectFrom('automation_live')
    .select(['contact_id as contactId', 'automation_id as automationId', 'version'])
    .where('contact_id', 'in', idsOf(contactIds)),
)
