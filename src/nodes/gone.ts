import type { ExpressionBuilder } from 'kysely'
import { databaseClock, type Store, type Tables } from '../store/index.js'
import { areAlive } from './lease.js'

/** A node that leaves: its epoch is over or it drains, and it has left something. */
export interface LeavingNode {
  name: string
  number: number
  epoch: number
  /** The node is alive, and gives up what it has. */
  isDraining: boolean
  hasQueue: boolean
  hasSpool: boolean
  /** Imports that can go on elsewhere. */
  hasImports: boolean
}

// This much longer than the lease, as a sign of life may be on its way.
const graceMs = 500

/**
 * Ends the epochs of nodes that gave no sign of life for longer than their lease; from then on their writes do not
 * count. Resolves with the ended nodes.
 */
export async function endSilent(
  { read, byRow }: Pick<Store, 'read' | 'byRow'>,
  { epoch }: { epoch: number },
): Promise<string[]> {
  const isSilent = ({ and, eb }: ExpressionBuilder<Tables, 'nodes'>) =>
    and([
      eb('gone_at', 'is', null),
      eb('epoch', '<>', epoch),
      eb('held_until', '<', eb(databaseClock, '-', graceMs)),
    ])
  const silent = await read.selectFrom('nodes').select('name').where(isSilent).executeTakeFirst()
  // A needless transaction would make the others look for changes.
  if (silent === undefined) return []
  const rows = await byRow((tx) =>
    tx
      .updateTable('nodes')
      .set({ gone_at: databaseClock })
      .where(isSilent)
      .returning('name')
      .execute(),
  )
  return rows.map(({ name }) => name)
}

/** The nodes whose work is to be taken over, and how many nodes may do so. */
export async function nodesThatLeave({ read, node }: Pick<Store, 'read' | 'node'>): Promise<{
  leaving: LeavingNode[]
  /** This node's place among the living nodes, and their number. */
  rank: number
  of: number
}> {
  const rows = await read
    .selectFrom('nodes')
    .select(['name', 'number', 'epoch', 'draining', 'gone_at'])
    .select(({ exists, selectFrom }) => [
      exists(
        selectFrom('queue').select('queue.id').whereRef('queue.node', '=', 'nodes.number').limit(1),
      ).as('hasQueue'),
      exists(
        selectFrom('inbound_spool')
          .select('inbound_spool.id')
          .whereRef('inbound_spool.node', '=', 'nodes.number')
          .limit(1),
      ).as('hasSpool'),
      exists(
        selectFrom('received')
          .select('received.id')
          .whereRef('received.node', '=', 'nodes.number')
          .where('due_at', 'is not', null)
          .limit(1),
      ).as('hasUnread'),
      exists(
        selectFrom('tasks')
          .select('tasks.id')
          .whereRef('tasks.node', '=', 'nodes.number')
          .where('kind', '=', 'import')
          .where('ended_at', 'is', null)
          .where(({ or, eb, exists, selectFrom }) =>
            or([
              eb('state', 'in', ['arriving', 'undoing']),
              exists(selectFrom('import_pieces').select('at').whereRef('task_id', '=', 'tasks.id')),
            ]),
          )
          .limit(1),
      ).as('hasImports'),
    ])
    .where('number', '<>', node.number)
    .where(({ or, eb }) => or([eb('gone_at', 'is not', null), eb('draining', '=', 1)]))
    .execute()
  const living = await areAlive(read).where('draining', '=', 0).select('number').execute()
  const numbers = living.map(({ number }) => number).sort((a, b) => a - b)
  return {
    leaving: rows
      .map(({ draining, gone_at, hasQueue, hasSpool, hasUnread, hasImports, ...row }) => ({
        ...row,
        isDraining: draining === 1 && gone_at === null,
        hasQueue: Boolean(hasQueue),
        hasSpool: (Boolean(hasSpool) || Boolean(hasUnread)) && gone_at !== null,
        hasImports: Boolean(hasImports) && gone_at !== null,
      }))
      .filter(({ hasQueue, hasSpool, hasImports }) => hasQueue || hasSpool || hasImports),
    rank: Math.max(0, numbers.indexOf(node.number)),
    of: Math.max(1, numbers.length),
  }
}

/** Counts what was taken over from a node, for people. */
export async function countTakenOver(
  { byRow }: Pick<Store, 'byRow'>,
  { name, epoch }: Pick<LeavingNode, 'name' | 'epoch'>,
  deliveries: number,
): Promise<void> {
  await byRow((tx) =>
    tx
      .updateTable('nodes')
      .set((eb) => ({ taken_over: eb('taken_over', '+', deliveries) }))
      .where('name', '=', name)
      .where('epoch', '=', epoch)
      .execute(),
  )
}
