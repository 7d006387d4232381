import type { QueueClass } from '../../store/index.js'
import { classes, type Path } from './waiting.js'

/**
 * Paths that are out of line because no account with mail there has room in the shares of the connections
 * (`connection-shares.ts`). Each waits for the shares that refused it, and accounts in turn for a share: one with a
 * thousand paths there is not a thousand times before the others.
 */
export interface Parked {
  /** `refused`: the share in which each account with mail there has no room. */
  add(path: Path, of: QueueClass, refused: ReadonlyMap<string, string>): void
  has(path: Path, of: QueueClass): boolean
  /** False when it was not parked. */
  remove(path: Path, of: QueueClass): boolean
  /** The account has no mail there any more. */
  forget(path: Path, of: QueueClass, accountId: string): void
  /** Removes the path whose turn it is to have room in this share, with its class. */
  next(share: string): { path: Path; of: QueueClass } | undefined
  /** How many wait for room for the account. */
  count(of: QueueClass, accountId: string): number
  isEmpty(): boolean
}

/** The paths that wait for a share, by account, both in turn. */
type PathsInTurn = Map<string, Set<Path>>

/**
 * An account that a share refuses is taken out of the line, so that those behind it are not held
 * up; it comes back in turn when the share has room.
 */
export function makeParked(): Parked {
  const lines = makeForClasses<Map<string, PathsInTurn>>(() => new Map())
  /** Which share each account waits for at a path. */
  const entries = makeForClasses<Map<Path, Map<string, string>>>(() => new Map())
  const counts = makeForClasses<Map<string, number>>(() => new Map())

  const forget = (path: Path, of: QueueClass, accountId: string) => {
    const shares = entries[of].get(path)
    const share = shares?.get(accountId)
    if (shares === undefined || share === undefined) return
    shares.delete(accountId)
    if (shares.size === 0) entries[of].delete(path)
    const left = (counts[of].get(accountId) ?? 0) - 1
    if (left > 0) counts[of].set(accountId, left)
    else counts[of].delete(accountId)
    const line = lines[of].get(share)
    const paths = line?.get(accountId)
    paths?.delete(path)
    if (paths?.size === 0) line?.delete(accountId)
    if (line?.size === 0) lines[of].delete(share)
  }
  const remove = (path: Path, of: QueueClass) => {
    const shares = entries[of].get(path)
    if (shares === undefined) return false
    for (const accountId of [...shares.keys()]) forget(path, of, accountId)
    return true
  }

  return {
    add(path, of, refused) {
      entries[of].set(path, new Map(refused))
      for (const [accountId, share] of refused) {
        counts[of].set(accountId, (counts[of].get(accountId) ?? 0) + 1)
        const line: PathsInTurn = lines[of].get(share) ?? new Map()
        lines[of].set(share, line)
        line.set(accountId, (line.get(accountId) ?? new Set()).add(path))
      }
    },
    has: (path, of) => entries[of].has(path),
    remove,
    forget,
    next(share) {
      for (const of of classes) {
        const line = lines[of].get(share)
        const [first] = line ?? []
        if (line === undefined || first === undefined) continue
        const [accountId, paths] = first
        const [path] = paths
        if (path === undefined) continue
        // The account goes to the end of its turn.
        line.delete(accountId)
        line.set(accountId, paths)
        remove(path, of)
        return { path, of }
      }
      return undefined
    },
    count: (of, accountId) => counts[of].get(accountId) ?? 0,
    isEmpty: () => classes.every((of) => entries[of].size === 0),
  }
}

/** One for each class, because a class never waits behind a lower one. */
const makeForClasses = <T>(make: () => T): Record<QueueClass, T> => ({
  0: make(),
  1: make(),
  2: make(),
})
