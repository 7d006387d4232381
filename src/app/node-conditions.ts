import { counted } from '../amounts/index.js'
import { utcTime } from '../clock/index.js'
import {
  differingFiles,
  disputedAddresses,
  holds,
  isClockOff,
  listNodes,
  type NodeStanding,
} from '../nodes/index.js'
import { kindsOfNode, type NoticeKind, noticesOf, type Raised } from '../notices/index.js'
import { type Read, type Store, sinceCommit } from '../store/index.js'

/** What a look has found. */
interface Found {
  kinds: readonly NoticeKind[]
  raised: Raised[]
  fault: string | undefined
}

/**
 * What one of several nodes is to write down: what it sees of itself, under its name, and the rest where that is its
 * duty.
 */
export function ownShare(
  { kinds, raised, fault }: Found,
  { store: { node }, name }: { store: Pick<Store, 'node'>; name: string },
): Found {
  const isIts = (kind: NoticeKind) => kindsOfNode.includes(kind) || holds(node, 'chores')
  return {
    fault,
    kinds: kinds.filter(isIts),
    raised: raised.filter(({ kind }) => isIts(kind)).map((one) => named(one, name)),
  }
}

/** Whether this node sees to an open notice. */
export const isOwnNotice = (
  { kind, key }: { kind: string; key: string },
  name: string | undefined,
): boolean => !kindsOfNode.some((own) => own === kind) || noticesOf(name).isOwn(key)

function named(one: Raised, name: string): Raised {
  if (!kindsOfNode.includes(one.kind)) return one
  const of = noticesOf(name)
  return { ...one, key: of.key(one.key), text: of.text(one.text) }
}

/**
 * Nodes that did not end by themselves, until they are back or forgotten; nodes whose clock is off, whose rule files
 * differ, or that share an address.
 */
export async function troubledNodes(
  { read }: Pick<Store, 'read'>,
  disputes: (read: Read) => ReturnType<typeof disputedAddresses> = disputedAddresses,
): Promise<Raised[]> {
  const nodes = await listNodes(read, { isFile: false, counts: false })
  return [
    ...lost(nodes),
    ...wrongClocks(nodes),
    ...otherFiles(nodes),
    ...disputed(await disputes(read)),
  ]
}

/**
 * The same for a caller that looks again and again: addresses are looked at only after a commit. Nothing where it is
 * another node's duty.
 */
export function makeNodeLook(
  store: Pick<Store, 'read' | 'commits' | 'node'>,
): () => Promise<Raised[]> {
  const disputes = sinceCommit(store, () => disputedAddresses(store.read))
  return async () => (holds(store.node, 'chores') ? await troubledNodes(store, disputes) : [])
}

function otherFiles(nodes: readonly NodeStanding[]): Raised[] {
  const names = differingFiles(nodes)
  if (names.length === 0) return []
  return [
    {
      kind: 'node',
      key: 'files',
      severity: 'daily',
      text: [
        `The nodes go by different rule files: ${names.join(', ')}`,
        'What one node does with a mail another one would do otherwise.',
      ],
      fix: ['give all nodes the same files, and systemctl reload posthorn on each'],
    },
  ]
}

const wrongClocks = (nodes: readonly NodeStanding[]): Raised[] =>
  nodes
    .filter(({ state, clockAheadMs }) => state === 'up' && isClockOff(clockAheadMs))
    .map(({ name, clockAheadMs }) => ({
      kind: 'node',
      key: `clock of ${name}`,
      severity: 'daily',
      text: [
        `The clock of ${name} is ${counted(Math.round(Math.abs(clockAheadMs) / 1_000), 'second')} ${clockAheadMs > 0 ? 'ahead of' : 'behind'} the database's`,
        'Beside a node whose clock is right it does nothing for all, and its limits of requests are counted apart.',
      ],
      fix: [`timedatectl, on ${name} and on the database's machine`],
    }))

/** Named at two nodes: limits and warm-up of an address are counted at one node. */
const disputed = (found: Awaited<ReturnType<typeof disputedAddresses>>): Raised[] =>
  found.map(({ address, claimant, owner }) => ({
    kind: 'node',
    key: `address ${address} at ${claimant}`,
    severity: 'daily',
    text: [
      `The source address ${address} is ${owner}'s, and ${claimant} names it too`,
      `Mail leaves from it at ${owner} alone.`,
    ],
    fix: [`take it out of outbound.source_addresses or the pool in the settings of ${claimant}`],
  }))

function lost(nodes: readonly NodeStanding[]): Raised[] {
  return nodes
    .filter(({ state }) => state === 'lost')
    .map(({ name, goneAt, takenOver }) => ({
      kind: 'node',
      key: name,
      severity: 'burning',
      text: [
        `The node ${name} is gone since ${utcTime(goneAt ?? 0)}`,
        takenOver === 0
          ? 'No mail waited at it.'
          : `${counted(takenOver, 'delivery', 'deliveries')} that waited at it ${takenOver === 1 ? 'was' : 'were'} taken over; what it had in hand may arrive twice.`,
      ],
      fix: [
        `systemctl status posthorn, on ${name}`,
        `posthorn node forget ${name}, where it does not come back`,
      ],
    }))
}
