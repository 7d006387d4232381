/**
 * Whose turn it is to write. SQLite has one writer; threads that left the waiting to SQLite's busy
 * handler would block their event loops for up to a second (`notes/performance.md` §2b), so they
 * take turns first come, first served over shared memory.
 *
 *   free ──take──▶ held ──release──▶ handed to the longest waiter, or free
 *
 * Word 0 holds the holder's slot + 1 (0: free), word 1 dispenses tickets, then one word a slot:
 * the ticket it waits with (0: none). A slot has at most one ticket, because a thread's writes
 * queue behind each other before they come here (`group-commit.ts`).
 */
const maxSlots = 16
const holderAt = 0
const dispenserAt = 1
const slotsAt = 2

export function makeTurns(): SharedArrayBuffer {
  return new SharedArrayBuffer((slotsAt + maxSlots) * Int32Array.BYTES_PER_ELEMENT)
}

export interface Turns {
  take(): Promise<void>
  release(): void
}

/** The turns as seen by the thread with number `slot` (0 to 15). */
export function joinTurns(shared: SharedArrayBuffer, slot: number): Turns {
  if (slot < 0 || slot >= maxSlots) throw new RangeError(`No write slot ${slot}`)
  const words = new Int32Array(shared)
  const me = slot + 1
  return {
    async take() {
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
    release: () => handOn(words),
  }
}

/** Frees the turn of a thread that has died, holding or waiting. Called by its supervisor. */
export function forgetTurn(shared: SharedArrayBuffer, slot: number): void {
  const words = new Int32Array(shared)
  Atomics.store(words, slotsAt + slot, 0)
  if (Atomics.load(words, holderAt) === slot + 1) handOn(words)
}

function handOn(words: Int32Array): void {
  let next = 0
  let lowest = Number.POSITIVE_INFINITY
  for (let slot = 0; slot < maxSlots; slot++) {
    const ticket = Atomics.load(words, slotsAt + slot)
    if (ticket !== 0 && ticket < lowest) {
      lowest = ticket
      next = slot + 1
    }
  }
  Atomics.store(words, holderAt, next)
  Atomics.notify(words, holderAt)
}
