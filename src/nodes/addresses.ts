import { type Config, nodeNameOf } from '../config/index.js'
import type { Read, Store, Tx } from '../store/index.js'
import { areAlive } from './lease.js'

/**
 * An address that this node's settings name, but that belongs to another node, so this one does not
 * send from it.
 */
export interface TakenAddress {
  address: string
  /** The name of the node that has it. */
  node: string
}

/**
 * Claims the addresses that this node sends from. An address of another living node stays with that node: limits and
 * warm-up go by address, and are counted at one node. An address of a node that is gone has moved, and is taken over.
 */
export async function claimAddresses(
  { write }: Pick<Store, 'write'>,
  { name }: { name: string },
  addresses: readonly string[],
): Promise<{ own: string[]; taken: TakenAddress[] }> {
  return await write(async (tx) => {
    const alive = new Set((await areAlive(tx).select('name').execute()).map((row) => row.name))
    const rows = await tx.selectFrom('node_addresses').selectAll().execute()
    const ownerOf = new Map(
      rows
        .filter(({ node, owner }) => owner === 1 && node !== name && alive.has(node))
        .map(({ address, node }) => [address, node]),
    )
    await tx.deleteFrom('node_addresses').where('node', '=', name).execute()
    const own: string[] = []
    const taken: TakenAddress[] = []
    for (const address of new Set(addresses)) {
      const node = ownerOf.get(address)
      if (node === undefined) own.push(address)
      else taken.push({ address, node })
      await note(tx, { address, node: name, owner: node === undefined ? 1 : 0 })
    }
    return { own, taken }
  })
}

async function note(tx: Tx, row: { address: string; node: string; owner: 0 | 1 }): Promise<void> {
  const { address, owner } = row
  if (owner === 1)
    await tx
      .updateTable('node_addresses')
      .set({ owner: 0 })
      .where('address', '=', address)
      .where('owner', '=', 1)
      .execute()
  await tx.insertInto('node_addresses').values(row).execute()
}

/** A node that sends from an address. */
export interface AddressOwner {
  node: string
  number: number
  epoch: number
  isAlive: boolean
}

/** The owner of each of these addresses, if a node has it. */
export async function ownersOf(
  read: Read,
  addresses: readonly string[],
): Promise<Map<string, AddressOwner>> {
  if (addresses.length === 0) return new Map()
  const rows = await read
    .selectFrom('node_addresses')
    .innerJoin('nodes', 'nodes.name', 'node_addresses.node')
    .select(['node_addresses.address', 'nodes.name', 'nodes.number', 'nodes.epoch'])
    .where('node_addresses.owner', '=', 1)
    .where('node_addresses.address', 'in', [...addresses])
    .execute()
  const living = await areAlive(read).select('epoch').execute()
  const epochs = new Set(living.map(({ epoch }) => epoch))
  return new Map(
    rows.map(({ address, name: node, number, epoch }) => [
      address,
      { node, number, epoch, isAlive: epochs.has(epoch) },
    ]),
  )
}

/** Addresses that living nodes name but do not send from, each with its owner. */
export async function disputedAddresses(
  read: Read,
): Promise<{ address: string; claimant: string; owner: string }[]> {
  const rows = await read.selectFrom('node_addresses').selectAll().orderBy('address').execute()
  const living = await areAlive(read).select('name').execute()
  const alive = new Set(living.map(({ name }) => name))
  const owners = new Map(
    rows.filter(({ owner }) => owner === 1).map((row) => [row.address, row.node]),
  )
  return rows.flatMap(({ address, node: claimant, owner: isOwner }) => {
    const owner = owners.get(address)
    const isDisputed = isOwner === 0 && owner !== undefined && alive.has(claimant)
    return isDisputed ? [{ address, claimant, owner }] : []
  })
}

/** What a node wants in the DNS of each sending domain, and what whoever gets certificates has to know of it. */
export interface NodeRecords {
  /** Mechanisms of the SPF record: `ip4:192.0.2.1`. */
  spf: readonly string[]
  /** Where bounces come in; null: it listens for none. */
  mx: string | null
  /** The names of its listeners for which ACME is to get certificates. */
  names: readonly string[]
  /** Whatever leads to one of these leads to this node. */
  addresses: readonly string[]
}

// An older release tells nothing of certificates.
const untold: Pick<NodeRecords, 'names' | 'addresses'> = { names: [], addresses: [] }

/** Stores what the others have to know of this node. */
export async function tellRecords(
  { byRow }: Pick<Store, 'byRow'>,
  { name, epoch }: { name: string; epoch: number },
  records: NodeRecords,
): Promise<void> {
  await byRow((tx) =>
    tx
      .updateTable('nodes')
      .set({ records: JSON.stringify(records) })
      .where('name', '=', name)
      .where('epoch', '=', epoch)
      .execute(),
  )
}

/** What all other nodes want there, including dead ones, which come back or are forgotten. */
export async function recordsOfOthers(read: Read, own: string): Promise<NodeRecords[]> {
  const rows = await read
    .selectFrom('nodes')
    .select('records')
    .where('name', '<>', own)
    .where('joins', '=', 1)
    .where('records', '<>', '')
    .orderBy('number')
    .execute()
  // Only `tellRecords` writes it.
  return rows.map(({ records }) => Object.assign({}, untold, JSON.parse(records) as NodeRecords))
}

/** The same by the settings: nothing for an appliance that is alone. */
export const recordsBeside = async (
  read: Read,
  { node }: Pick<Config, 'node'>,
): Promise<NodeRecords[]> => (node.join ? await recordsOfOthers(read, nodeNameOf(node)) : [])
