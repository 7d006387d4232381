import TinyQueue from 'tinyqueue'
import type { QueueClass } from '../../store/index.js'
import type { Held } from '../shaping/index.js'
import type { ShareRefusal } from './connection-shares.js'
import { makeParked } from './parked.js'
import { earliestFirst, type Path, type Stream } from './waiting.js'

/**
 * The line of each class: the paths that are asked in turn whether something may start there. A path is out
 * of the line while a gate is closed (held), or while no account there has room in its shares (parked). So
 * what cannot start costs nothing, however much of it waits.
 *
 *               ┌── the gate's time, room at the site came back ────┐
 *               ▼                                                   │
 *   join ──▶ in line ──hold──▶ held by a gate ──────────────────────┤
 *               └─────park──▶ parked ── room in a share ──▶ in line, woken for that share
 *
 * A share that has room wakes one path. When that path leaves the line without having used the room, it
 * passes it on to the next one that waits for the share.
 */
export interface PathLines {
  /** Those in line, in their order; a path that joins during a walk is reached by it. */
  readonly of: Record<QueueClass, ReadonlySet<Path>>
  /** Gets in line, if it has mail of the class; the gate or share that held it is asked again. */
  join(path: Path, of: QueueClass): void
  /** Gets in line if a gate holds it that named no time. What is parked stays: it waits for its turn in a share. */
  askAgain(path: Path, of: QueueClass): void
  /** The path has mail of one more account, which may have room where others have none. */
  joined(path: Path, of: QueueClass): void
  /** The path was given something, and goes to the end of the line. */
  toTheEnd(path: Path, of: QueueClass): void
  /** A gate is closed at the path. */
  hold(path: Path, of: QueueClass, held: Held): void
  /** `refused`: the share in which each account with mail there has no room. */
  park(path: Path, of: QueueClass, refused: ReadonlyMap<string, ShareRefusal>): void
  /** The account has no mail of the class at the path any more. */
  forget(path: Path, of: QueueClass, accountId: string): void
  /** The path has no mail of the class any more. */
  leave(path: Path, of: QueueClass): void
  /** These shares have more room: one path for each gets in line. */
  roomIn(shares: readonly string[]): void
  /** Paths whose gate said that it would open by now get in line. */
  wake(now: number): void
  /** When the next closed gate opens; undefined for not known. */
  opensAt(): number | undefined
  /** At how many paths mail of the account is parked. */
  parked(of: QueueClass, accountId: string): number
  isAnyParked(): boolean
}

/** A gate has closed. `waiting`: the streams before it, by account. */
export type OnHeld = (gate: Held['gate'], waiting: ReadonlyMap<string, ReadonlySet<Stream>>) => void

/**
 * Which paths may be asked next, by class. A path whose gate is closed leaves the line until the gate opens, so a
 * look costs time only for open paths: a million deliveries to one suspended site cost nothing.
 */
export function makePathLines(onHeld: OnHeld): PathLines {
  const lines: Record<QueueClass, Set<Path>> = { 0: new Set(), 1: new Set(), 2: new Set() }
  const parked = makeParked()
  /** Paths that are in line again because a share had room, with that share. */
  const woken: Record<QueueClass, Map<Path, string>> = { 0: new Map(), 1: new Map(), 2: new Map() }
  const opening = new TinyQueue<{ at: number; path: Path; of: QueueClass }>([], earliestFirst)

  const join = (path: Path, of: QueueClass) => {
    parked.remove(path, of)
    if (path.due[of].size > 0) lines[of].add(path)
  }
  const wakeOne = (share: string) => {
    const next = parked.next(share)
    if (next === undefined) return
    join(next.path, next.of)
    woken[next.of].set(next.path, share)
  }
  /** The path has left the line: the room for which it was woken goes to the next path, unless it was used. */
  const passOn = (path: Path, of: QueueClass, isUsed = (_share: string) => false) => {
    const share = woken[of].get(path)
    woken[of].delete(path)
    if (share !== undefined && !isUsed(share)) wakeOne(share)
  }
  const close = (path: Path, of: QueueClass, held: Held) => {
    lines[of].delete(path)
    const before = path.held[of]
    path.held[of] = held
    if (before?.gate !== held.gate) onHeld(held.gate, path.due[of])
    if (held.until !== null && before?.until !== held.until)
      opening.push({ at: held.until, path, of })
  }

  return {
    of: lines,
    join,
    askAgain(path, of) {
      if (path.held[of]?.until === null && !parked.has(path, of)) join(path, of)
    },
    joined(path, of) {
      const wasParked = parked.remove(path, of)
      if (wasParked || path.held[of] === undefined) lines[of].add(path)
    },
    toTheEnd(path, of) {
      lines[of].delete(path)
      lines[of].add(path)
    },
    hold(path, of, held) {
      close(path, of, held)
      passOn(path, of)
    },
    park(path, of, refused) {
      const [{ why } = { why: '' }] = refused.values()
      close(path, of, { gate: 'connections', until: null, why })
      const waited = new Map([...refused].map(([account, { share }]) => [account, share]))
      parked.add(path, of, waited)
      passOn(path, of, (share) => [...waited.values()].includes(share))
    },
    forget: parked.forget,
    leave(path, of) {
      lines[of].delete(path)
      // The next mail asks the gate anew: only the slots taken for this mail's claim may have closed it.
      path.held[of] = undefined
      passOn(path, of)
    },
    roomIn(shares) {
      if (!parked.isEmpty()) for (const share of shares) wakeOne(share)
    },
    wake(now) {
      for (let first = opening.peek(); first && first.at <= now; first = opening.peek()) {
        opening.pop()
        const { path, of } = first
        // An old entry: the gate has named another time since.
        if (path.held[of]?.until !== first.at) continue
        path.held[of] = undefined
        join(path, of)
      }
    },
    opensAt: () => opening.peek()?.at,
    parked: parked.count,
    isAnyParked: () => !parked.isEmpty(),
  }
}
