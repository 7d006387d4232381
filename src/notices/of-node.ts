import type { Read, Tx } from '../store/index.js'
import { moreKey, type NoticeKind, openOfKind, settled } from './notice.js'

/** Notices of one machine: where several nodes look each has its own, under its name, which no other one settles. */
export interface NodeNotices {
  key(key: string): string
  /** Whether a notice with this key is one that this machine sees to. */
  isOwn(key: string): boolean
  /** The key as it would be of an appliance that is alone. */
  plain(key: string): string
  /** The first line says where. */
  text(text: string | readonly string[]): string[]
}

/** Kinds whose notices are all of one machine; of certificates those are that its listeners present. */
export const kindsOfNode: readonly NoticeKind[] = [
  'disk',
  'thread',
  'queue-stuck',
  'doctor',
  'blocklist',
]

/** `name`: of the node; undefined of an appliance that is alone. */
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

/** Whether a key names a node at all: none of what there is one of for all does. */
export const isOfNode = (key: string): boolean => key.includes('@')

type Orphan = { kind: NoticeKind; key: string }

/**
 * Notices of machines that nobody looks at any more: of a node that was forgotten, or of the appliance as it was before it
 * had a name beside others. `names`: of all nodes.
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

/** Settles what nobody else would. */
export async function settleOrphans(
  tx: Tx,
  { names, now }: { names: readonly string[]; now: number },
): Promise<void> {
  for (const one of await findOrphans(tx, names)) await settled(tx, { ...one, now })
}
