import type { Read, Tx } from '../store/index.js'
import { moreKey, type NoticeKind, openOfKind, settled } from './notice.js'

/** Notices of one machine: each of several nodes has its own, under its name, which no other node settles. */
export interface NodeNotices {
  key(key: string): string
  /** Whether a notice with this key belongs to this machine. */
  isOwn(key: string): boolean
  /** The key in the form of a single appliance. */
  plain(key: string): string
  /** The lines; the first one says where. */
  text(text: string | readonly string[]): string[]
}

/**
 * Kinds whose notices all belong to one machine; of certificates only those that its listeners present.
 */
export const kindsOfNode: readonly NoticeKind[] = [
  'disk',
  'thread',
  'queue-stuck',
  'doctor',
  'blocklist',
]

/** `name` is the node's; undefined for a single appliance. */
export const noticesOf = (name: string | undefined): NodeNotices => {
  const suffix = name === undefined ? '' : `@${name}`
  return {
    key: (key) => `${key}${suffix}`,
    isOwn: (key) => key.endsWith(suffix),
    plain: (key) => (suffix === '' ? key : key.slice(0, -suffix.length)),
    text(text) {
      const [first = '', ...others] = typeof text === 'string' ? [text] : text
      return [name === undefined ? first : `${first} (on ${name})`, ...others]
    },
  }
}

/** Whether a key names a node at all: keys of things that all nodes share do not. */
export const isOfNode = (key: string): boolean => key.includes('@')

type Orphan = { kind: NoticeKind; key: string }

/**
 * Notices of machines that nobody checks any more: of a forgotten node, or of the appliance before it had a name beside
 * others. `names` are those of all nodes.
 */
export async function findOrphans(read: Read, names: readonly string[]): Promise<Orphan[]> {
  const hasNode = (key: string) => names.some((name) => noticesOf(name).isOwn(key))
  const found: Orphan[] = []
  for (const kind of [...kindsOfNode, 'certificate'] as const)
    for (const { key } of await openOfKind(read, kind))
      if (key !== moreKey && !hasNode(key) && (kind !== 'certificate' || isOfNode(key)))
        found.push({ kind, key })
  return found
}

/** Settles notices that nobody else would settle. */
export async function settleOrphans(
  tx: Tx,
  { names, now }: { names: readonly string[]; now: number },
): Promise<void> {
  for (const one of await findOrphans(tx, names)) await settled(tx, { ...one, now })
}
