import { lastDeed } from '../audit/index.js'
import { goneNames } from '../contacts/index.js'
import type { Read } from '../store/index.js'
import type { Broadcast } from './broadcast.js'
import { stillThere, whomOf } from './whom.js'

/**
 * Which list or segment of a campaign's audience was deleted, in a sentence, by its name if that is known. Undefined
 * where all exist.
 */
export async function goneWords(
  read: Read,
  broadcast: Pick<Broadcast, 'account_id' | 'list_id' | 'whom'>,
): Promise<string | undefined> {
  const { account_id: accountId } = broadcast
  const whom = whomOf(broadcast)
  const there = new Set(Object.values(await stillThere(read, accountId, whom)).flat())
  const lists = [...whom.lists, ...whom.withoutLists].filter((id) => !there.has(id))
  const segments = [...whom.segments, ...whom.withoutSegments].filter((id) => !there.has(id))
  const names = await goneNames(read, accountId, [...lists, ...segments])
  const said: string[] = []
  const say = async (kind: 'list' | 'segment', id: string) => {
    const name = names.get(id) ?? (await nameInAudit(read, accountId, { kind, id }))
    said.push(name === undefined ? `a ${kind}` : `the ${kind} “${name}”`)
  }
  for (const id of lists) await say('list', id)
  for (const id of segments) await say('segment', id)
  const [first, ...more] = new Set(said)
  if (first === undefined) return undefined
  const all = [first, ...more].join(' and ')
  return `${all.slice(0, 1).toUpperCase()}${all.slice(1)} of its audience ${lists.length + segments.length === 1 ? 'was' : 'were'} deleted`
}

/** For things deleted before names were kept: the audit log has the name if a person or a key deleted them. */
async function nameInAudit(
  read: Read,
  accountId: string,
  { kind, id }: { kind: 'list' | 'segment'; id: string },
): Promise<string | undefined> {
  const deed = await lastDeed(read, accountId, { action: `${kind}.delete`, target: id })
  const name = deed?.detail.name
  return typeof name === 'string' ? name : undefined
}
