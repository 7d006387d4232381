import type { Selectable } from 'kysely'
import { ApiError } from '../errors/index.js'
import { databaseClock, type NodeRow, type Tx } from '../store/index.js'
import { threadsOf } from './threads.js'

/** What an operator can do to a node, by `posthorn node` or the operator's page. */
export interface NodeChange {
  /** What happens to the node, in words that follow its name. */
  says: string
  /** What the button says. */
  label: string
  /** The states (`NodeStanding.state`) for which it is offered. */
  of: readonly string[]
  apply: (tx: Tx, node: Found) => Promise<void>
}

type Found = Pick<Selectable<NodeRow>, 'name' | 'number' | 'gone_at' | 'joins'>

export type NodeChangeName = 'drain' | 'undrain' | 'fence' | 'forget'

export const nodeChanges: Readonly<Record<NodeChangeName, NodeChange>> = {
  drain: {
    says: 'takes no new mail, and the others take over what waits at it',
    label: 'Drain',
    of: ['up'],
    async apply(tx, node) {
      requireAlive(node)
      if (node.joins === 0) throw refused(`${node.name} is the only one: nobody would take over`)
      await tx.updateTable('nodes').set({ draining: 1 }).where('name', '=', node.name).execute()
    },
  },
  undrain: {
    says: 'takes mail again',
    label: 'Take mail again',
    of: ['draining'],
    async apply(tx, node) {
      await tx.updateTable('nodes').set({ draining: 0 }).where('name', '=', node.name).execute()
    },
  },
  fence: {
    says: 'counts for nothing from now on: it ends as soon as it notices, and the others take over',
    label: 'Fence',
    of: ['up', 'draining', 'silent'],
    async apply(tx, node) {
      requireAlive(node)
      await tx
        .updateTable('nodes')
        .set({ gone_at: databaseClock })
        .where('name', '=', node.name)
        .where('gone_at', 'is', null)
        .execute()
    },
  },
  forget: {
    says: 'is forgotten',
    label: 'Forget',
    of: ['lost', 'stopped'],
    async apply(tx, node) {
      if (node.gone_at === null)
        throw refused(
          `${node.name} is not gone: stop it first, or fence it where nobody can reach it`,
        )
      for (const table of ['queue', 'inbound_spool'] as const) {
        const left = await tx
          .selectFrom(table)
          .select('id')
          .where('node', '=', node.number)
          .limit(1)
          .executeTakeFirst()
        if (left !== undefined)
          throw refused(`Mail waits at ${node.name} still: another node has to take it over first`)
      }
      const { first, end } = threadsOf(node)
      await tx
        .deleteFrom('site_states')
        .where('thread', '>=', first)
        .where('thread', '<', end)
        .execute()
      await tx.deleteFrom('egress').where('node', '=', node.number).execute()
      await tx.deleteFrom('node_addresses').where('node', '=', node.name).execute()
      await tx.deleteFrom('nodes').where('name', '=', node.name).execute()
    },
  },
}

/**
 * Throws a 404 for a name that no node has, and a 409 if the node's state does not allow the
 * change.
 */
export async function changeNode(tx: Tx, change: NodeChangeName, name: string): Promise<void> {
  const node = await tx
    .selectFrom('nodes')
    .select(['name', 'number', 'gone_at', 'joins'])
    .where('name', '=', name)
    .executeTakeFirst()
  if (node === undefined)
    throw new ApiError('not_found', `There is no node ${name}; 'posthorn node list' has them`)
  await nodeChanges[change].apply(tx, node)
}

function requireAlive({ name, gone_at }: Found): void {
  if (gone_at !== null) throw refused(`${name} is gone already`)
}

const refused = (message: string) => new ApiError('conflict', message)
