import type { Read, Store } from '../store/index.js'
import type { DutyName } from './duties.js'
import { areAlive } from './lease.js'

/** Another node that is alive. */
export interface Peer {
  name: string
  number: number
  epoch: number
  /** Where it listens for rings, as `10.0.0.2:8027`; empty: nowhere. */
  address: string
}

/** A node by its name, its number, or its duty. */
export type NodeWanted = string | number | { duty: DutyName }

/** All living nodes except this one. */
export const listPeers = (read: Read, { epoch }: { epoch: number }): Promise<Peer[]> =>
  areAlive(read)
    .where('epoch', '<>', epoch)
    .where('joins', '=', 1)
    .select(['name', 'number', 'epoch', 'address'])
    .execute()

/** The wanted node, as the database knows it; undefined if it knows none. */
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

/** Whether a node of this epoch is alive, so that its word counts. */
export async function isLivingEpoch(read: Read, epoch: number): Promise<boolean> {
  const found = await areAlive(read).where('epoch', '=', epoch).select('name').executeTakeFirst()
  return found !== undefined
}

/** Stores where this node listens for rings. */
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

/** Makes nodes that no ring reaches look for work at their next signs of life, at most 2 seconds later. */
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
