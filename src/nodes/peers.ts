import type { Read, Store } from '../store/index.js'
import type { DutyName } from './duties.js'
import { areAlive } from './lease.js'

/** Another node that is alive. */
export interface Peer {
  name: string
  number: number
  epoch: number
  /** Where it hears rings, as `10.0.0.2:8027`; empty: nowhere. */
  address: string
}

/** A node by its name, by its number, or by what it does for all. */
export type NodeWanted = string | number | { duty: DutyName }

/** All that are alive but this one. */
export const listPeers = (read: Read, { epoch }: { epoch: number }): Promise<Peer[]> =>
  areAlive(read)
    .where('epoch', '<>', epoch)
    .where('joins', '=', 1)
    .select(['name', 'number', 'epoch', 'address'])
    .execute()

/** The node that is meant, as the database knows it; undefined where it knows none. */
export async function findNode(
  read: Read,
  wanted: NodeWanted,
): Promise<(Peer & { isAlive: boolean }) | undefined> {
  const node = await read
    .selectFrom('nodes')
    .select(['name', 'number', 'epoch', 'address'])
    .$if(typeof wanted === 'string', (q) => q.where('name', '=', String(wanted)))
    .$if(typeof wanted === 'number', (q) => q.where('number', '=', Number(wanted)))
    .$if(typeof wanted === 'object', (q) =>
      q.where('epoch', '=', (eb) =>
        eb
          .selectFrom('duties')
          .select('duties.epoch')
          .where('duties.name', '=', typeof wanted === 'object' ? wanted.duty : ''),
      ),
    )
    .executeTakeFirst()
  return node && { ...node, isAlive: await isLivingEpoch(read, node.epoch) }
}

/** Whether what a node of this epoch says counts. */
export async function isLivingEpoch(read: Read, epoch: number): Promise<boolean> {
  const found = await areAlive(read).where('epoch', '=', epoch).select('name').executeTakeFirst()
  return found !== undefined
}

/** Says where this node hears rings. */
export async function tellAddress(
  { byRow }: Pick<Store, 'byRow'>,
  { name, epoch }: { name: string; epoch: number },
  address: string,
): Promise<void> {
  await byRow((tx) =>
    tx
      .updateTable('nodes')
      .set({ address })
      .where('name', '=', name)
      .where('epoch', '=', epoch)
      .execute(),
  )
}

/** Has nodes that no ring reaches look for what there is to do: with their next signs of life, 2 seconds later at most. */
export async function wakeNodes(
  { byRow }: Pick<Store, 'byRow'>,
  epochs: readonly number[] | 'all',
): Promise<void> {
  if (epochs !== 'all' && epochs.length === 0) return
  await byRow((tx) =>
    tx
      .updateTable('nodes')
      .set((eb) => ({ wakes: eb('wakes', '+', 1) }))
      .where('gone_at', 'is', null)
      .$if(epochs !== 'all', (q) => q.where('epoch', 'in', epochs === 'all' ? [] : [...epochs]))
      .execute(),
  )
}
