import type { Clock } from '../../clock/index.js'
import type { QueueClass } from '../../store/index.js'
import { makeBottleneck } from './bottleneck.js'
import { makeHeavyRoom } from './heavy.js'

/** Whose message it is. */
export interface ComposedFor {
  class: QueueClass
  accountId: string
  /** Breaks its attempt off when other large mail has waited long for the memory that it holds. */
  giveUp: ((why: string) => void) | undefined
}

/** What was composed, with what gives its memory back. */
export interface Composed<T> {
  composed: T
  done(): void
}

/**
 * Composes a message when it is its turn and there is memory for it. `work` may be called more than once:
 * what it made is dropped while it waits for memory, as it would take the room that it waits for.
 */
export type ComposingRoom = <T extends { heldBytes: number }>(
  mail: ComposedFor,
  work: () => Promise<T>,
) => Promise<Composed<T>>

// Enough for the signer never to be idle. With hundreds of slots all would be composed at once, and wait
// for it in their order (20 sites of 20 connections: 16 % more mails a second with it, Nov 2026).
const maxComposing = 24
const maxHeavyBytes = 256 * 1024 * 1024

export function makeComposingRoom(clock: Clock): ComposingRoom {
  const bottleneck = makeBottleneck(maxComposing)
  const heavyRoom = makeHeavyRoom(maxHeavyBytes, clock)
  return async ({ class: of, accountId, giveUp }, work) => {
    for (;;) {
      const composed = await bottleneck(of, work)
      const done = heavyRoom.enter({ bytes: composed.heldBytes, accountId, giveUp })
      if (done !== undefined) return { composed, done }
      await heavyRoom.untilFree(accountId)
    }
  }
}
