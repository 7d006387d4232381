/**
 * Whose turn it is to write. SQLite has one writer; threads that left the waiting to SQLite's busy
 * handler would block their event loops for up to a second (`notes/performance.md` §2b), so they
 * take turns over shared memory.
 *
 *   free ──take──▶ held ──release──▶ free, all waiters woken
 *                          └──────▶ handed to the longest waiter, once it was passed over often
 *
 * A turn that is always handed on would lie idle until its new holder's event loop gets to it (it may be signing
 * mail), and all would go at the pace of the busiest thread. So a thread that is awake takes it, and a thread that
 * was passed over several times gets it next in any case.
 *
 * A job writes a million rows, and nobody waits for a single one. It gives way: it ends its turn early when the
 * thread of the API (slot 0) waits, and hands the turn to that thread.
 *
 * Word 0 holds the holder's slot + 1 (0: free), word 1 dispenses tickets, then two words a slot: the ticket it waits
 * with (0: none) and how often it was passed over. A slot has at most one ticket, because a thread's writes queue
 * behind each other before they come here (`group-commit.ts`). Then come counts of commits: those that changed what
 * other threads remember (`remembered.ts`), those that changed anything, and those that changed more than the signs
 * of life; then a file descriptor of the process (`checkpoint.ts`), and how many transactions a server was asked for,
 * and how many of them are under way. Then what all threads know of this appliance as one of several (`own-node.ts`).
 * At the end each slot has a word: how many of its threads have died.
 */
const maxSlots = 22
const holderAt = 0
const dispenserAt = 1
const slotsAt = 2
const passedAt = slotsAt + maxSlots
const changesAt = passedAt + maxSlots
const commitsAt = changesAt + 1
const deedsAt = changesAt + 2
const fileAt = changesAt + 3
const transactionsAt = fileAt + 1
const underWayAt = fileAt + 2
/** Where the words of `own-node.ts` begin, and how many they are. */
export const ownNodeAt = fileAt + 3
/** Room for 32 duties of nodes each. */
export const dutyWords = 2
export const ownNodeWords = 6 + dutyWords
const deathsAt = ownNodeAt + ownNodeWords
const maxPassed = 3
const clientsSlot = 0

/** The slot of a command, which is a process beside the appliance, so that their ids never coincide. */
export const commandSlot = 20

/** The slot of the thread that writes the most rows in the least time. */
export const bulkSlot = 13

/** The memory with which threads take turns to write; for `joinTurns` in each of them. */
export function makeTurns(): SharedArrayBuffer {
  return new SharedArrayBuffer((deathsAt + maxSlots) * Int32Array.BYTES_PER_ELEMENT)
}

/** What the threads of a process have asked a server for. */
export interface TransactionCounts {
  begun: number
  /** How many of these have not ended, as far as is known. */
  underWay: number
}

export interface WriteTurns {
  take(): Promise<void>
  /** True when the holder gives way and clients wait: it should release soon. */
  isWanted(): boolean
  release(): void
  /** A commit of this thread has changed what threads remember. */
  noteChange(): void
  /** How many such commits there were: another number means another state. */
  changes(): number
  /** This thread has committed a change: a deed, or only the sign that the appliance is alive. */
  noteCommit(isDeed: boolean): void
  commits(): { all: number; deeds: number }
  /** A thread of this process asks a server for a transaction; or the server gave none; or it has ended. */
  noteTransaction(what: 'asked' | 'none' | 'ended'): void
  transactions(): TransactionCounts
  /** The file that `open` returned to the first thread of the process that asked. */
  sharedFile(open: () => number): number
}

/** The turns as seen by the thread with number `slot` (0 to 21); a job `givesWay` to clients. */
export function joinTurns(
  shared: SharedArrayBuffer,
  slot: number,
  { givesWay = false }: { givesWay?: boolean } = {},
): WriteTurns {
  if (slot < 0 || slot >= maxSlots) throw new RangeError(`No write slot ${slot}`)
  const words = new Int32Array(shared)
  const me = slot + 1
  return {
    async take() {
      Atomics.store(words, passedAt + slot, 0)
      Atomics.store(words, slotsAt + slot, (Atomics.add(words, dispenserAt, 1) & 0x3fffffff) + 1)
      // A pending waitAsync keeps no thread alive, so a timer does.
      let alive: NodeJS.Timeout | undefined
      for (;;) {
        const holder = Atomics.compareExchange(words, holderAt, 0, me)
        if (holder === 0 || holder === me) break
        alive ??= setInterval(() => {}, 60_000)
        await Atomics.waitAsync(words, holderAt, holder).value
      }
      clearInterval(alive)
      Atomics.store(words, slotsAt + slot, 0)
    },
    isWanted: () => givesWay && clientsWait(words),
    release() {
      if (givesWay && clientsWait(words)) giveTo(words, clientsSlot + 1)
      else release(words)
    },
    noteChange: () => void Atomics.add(words, changesAt, 1),
    changes: () => Atomics.load(words, changesAt),
    noteCommit(isDeed) {
      Atomics.add(words, commitsAt, 1)
      if (isDeed) Atomics.add(words, deedsAt, 1)
    },
    commits: () => ({ all: Atomics.load(words, commitsAt), deeds: Atomics.load(words, deedsAt) }),
    noteTransaction(what) {
      if (what !== 'ended') Atomics.add(words, transactionsAt, what === 'asked' ? 1 : -1)
      Atomics.add(words, underWayAt, what === 'asked' ? 1 : -1)
    },
    transactions: () => ({
      begun: Atomics.load(words, transactionsAt),
      underWay: Atomics.load(words, underWayAt),
    }),
    sharedFile(open) {
      const known = Atomics.load(words, fileAt)
      if (known !== 0) return known
      const file = open()
      Atomics.store(words, fileAt, file)
      return file
    },
  }
}

const clientsWait = (words: Int32Array) => Atomics.load(words, slotsAt + clientsSlot) !== 0

/** Frees the turn of a thread that has died, holding or waiting. Called by its supervisor. */
export function forgetTurn(shared: SharedArrayBuffer, slot: number): void {
  const words = new Int32Array(shared)
  Atomics.add(words, deathsAt + slot, 1)
  Atomics.store(words, slotsAt + slot, 0)
  takeBack(words, slot)
}

/** When two find at the same moment that a dead thread has the turn, only one releases it. */
function takeBack(words: Int32Array, slot: number): void {
  if (Atomics.compareExchange(words, holderAt, slot + 1, 0) === slot + 1) release(words)
}

/**
 * The turn is not handed to the longest waiting thread but offered to all, because a thread that is awake takes it
 * sooner; only a thread that was passed over too often gets it directly.
 */
function release(words: Int32Array): void {
  let longest: { slot: number; ticket: number; deaths: number } | undefined
  for (let slot = 0; slot < maxSlots; slot++) {
    // Read before its ticket, so that a death after this is noticed below.
    const deaths = Atomics.load(words, deathsAt + slot)
    const ticket = Atomics.load(words, slotsAt + slot)
    if (ticket !== 0 && (longest === undefined || ticket < longest.ticket)) {
      longest = { slot, ticket, deaths }
    }
  }
  if (longest === undefined || Atomics.add(words, passedAt + longest.slot, 1) < maxPassed) {
    giveTo(words, 0)
    return
  }
  const { slot, deaths } = longest
  giveTo(words, slot + 1)
  // The thread died meanwhile: its supervisor may have looked before it was given the turn.
  if (Atomics.load(words, deathsAt + slot) !== deaths) takeBack(words, slot)
}

/**
 * Hands the turn over, or frees it. First the word, then the call: a thread that wakes has to find
 * the new holder.
 */
function giveTo(words: Int32Array, holder: number): void {
  Atomics.store(words, holderAt, holder)
  Atomics.notify(words, holderAt)
}
