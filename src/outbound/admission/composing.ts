import { onceATurn } from '../../bounded/index.js'
import type { Clock } from '../../clock/index.js'
import type { QueueClass } from '../../store/index.js'
import { makeBottleneck, makeLine } from './bottleneck.js'
import { makeHeavyRoom } from './heavy.js'

/** Whose message it is. */
export interface ComposedFor {
  class: QueueClass
  accountId: string
  /** Breaks its attempt off when other large mail has waited long for the memory that it holds. */
  giveUp: ((why: string) => void) | undefined
}

/** What was composed, and the function that gives its memory back. */
export interface Composed<T> {
  composed: T
  done(): void
}

/** Where mail waits for the CPU, and for memory. */
export interface ComposingRoom {
  /**
   * Composes a message when it is its turn and there is memory for it. `work` may be called more than once: while
   * the message waits for memory it is dropped, as it would take the room that it waits for.
   */
  compose<T extends { heldBytes: number }>(
    mail: ComposedFor,
    work: () => Promise<T>,
  ): Promise<Composed<T>>
  /** Calls back when few wait for their turn, for a few in each turn of the event loop. */
  whenNear(of: QueueClass, begin: () => void): void
  /** True when so many wait before a mail of the class that no more mail of it need be claimed. */
  isCrowded(of: QueueClass): boolean
}

// Messages that are composed at once: enough for the signer to have work (0.4 ms each) while this thread settles or
// claims, which takes some ms. Without a bound hundreds of slots would compose at once, each message waiting for
// all the others. With 48 and four orders at the signer instead of 24 and two, 20 sites of 20 connections get 5 to
// 9 % more mails a second, because the cores idle 7 % of the time instead of 12 (26 Nov 2026).
const maxComposing = 48
// Memory of one thread for large messages under way.
const maxHeavyBytes = 256 * 1024 * 1024

// An attempt that waits for its turn is dozens of objects, which V8 copies, keeps as old ones and collects as such:
// with hundreds of slots that took a tenth of the thread's time. So it begins when its turn is near, with others, whose
// rows are looked up together.
const mostNear = 8
const nearAgain = 4
// Claimed deliveries and their slots that wait are copied and kept in the same way.
const mostFar = 32

/**
 * Composing and signing take CPU, and a message takes memory until it is sent. Without a bound a burst of due mail
 * would be composed at once and then wait in memory for connections; with one, only as much is composed ahead as
 * the connections take. `onTurn`: called when some have begun, so that it may not be crowded any more.
 */
export function makeComposingRoom(clock: Clock, onTurn = () => {}): ComposingRoom {
  const far = makeLine<() => void>()
  const beginSome = onceATurn(() => {
    const room = mostNear - bottleneck.waiting()
    for (let i = 0; i < room; i++) far.take()?.()
    onTurn()
    plan()
  })
  const plan = () => {
    if (far.length() > 0 && bottleneck.waiting() <= nearAgain) beginSome()
  }
  const bottleneck = makeBottleneck(maxComposing, plan)
  const heavyRoom = makeHeavyRoom(maxHeavyBytes, clock)
  return {
    async compose({ class: of, accountId, giveUp }, work) {
      for (let wasCalled = false; ; wasCalled = true) {
        let bytes = 0
        try {
          const composed = await bottleneck.pass(of, work)
          bytes = composed.heldBytes
          const done = heavyRoom.enter({ bytes, accountId, giveUp })
          if (done !== undefined) return { composed, done }
        } finally {
          // Also where the message cannot be composed any more, or is smaller now.
          if (wasCalled) heavyRoom.passOn()
        }
        await heavyRoom.untilFree(accountId, bytes)
      }
    },
    whenNear(of, begin) {
      far.add(of, begin)
      plan()
    },
    isCrowded: (of) => far.before(of) >= mostFar,
  }
}
