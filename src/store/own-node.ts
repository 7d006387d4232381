import { dutyWords, ownNodeAt } from './turns.js'

/** What every thread of an appliance knows about it as one of the nodes that may share a database. */
export interface OwnNode {
  /** 1 to 31; 1 where the database is a file, and for a process that is not an appliance. */
  readonly number: number
  /** Another number at each start; 0 for a process that is not an appliance. */
  readonly epoch: number
  /** For how long the server has acknowledged no sign of life; 0 where the database is a file. */
  silentMs(): number
  /** Whether another appliance has the duty of this number. */
  isOthers(duty: number): boolean
  /**
   * Another number when other processes have committed (a sign of life of this one finds that), or when duties have
   * moved.
   */
  othersCommits(): number
}

const numberAt = ownNodeAt
const epochLowAt = ownNodeAt + 1
const epochHighAt = ownNodeAt + 2
const aliveAt = ownNodeAt + 3
const isWatchedAt = ownNodeAt + 4
const othersCommitsAt = ownNodeAt + 5
// One bit for each duty, 32 in a word.
const othersAt = ownNodeAt + 6
const low = 2 ** 24

/** In the memory that `makeTurns` made. */
export function ownNodeIn(shared: SharedArrayBuffer): OwnNode {
  const words = new Int32Array(shared)
  return {
    get number() {
      return Math.max(1, Atomics.load(words, numberAt))
    },
    get epoch() {
      return Atomics.load(words, epochHighAt) * low + Atomics.load(words, epochLowAt)
    },
    silentMs: () =>
      Atomics.load(words, isWatchedAt) === 0
        ? 0
        : (monotonicMs() - Atomics.load(words, aliveAt)) | 0,
    isOthers: (duty) => ((Atomics.load(words, othersAt + (duty >> 5)) >> (duty & 31)) & 1) === 1,
    othersCommits: () => Atomics.load(words, othersCommitsAt),
  }
}

/** Before any thread opens the database. */
export function becomeNode(
  shared: SharedArrayBuffer,
  { number, epoch }: Pick<OwnNode, 'number' | 'epoch'>,
): void {
  const words = new Int32Array(shared)
  Atomics.store(words, numberAt, number)
  Atomics.store(words, epochHighAt, Math.floor(epoch / low))
  Atomics.store(words, epochLowAt, epoch % low)
}

/** The server has acknowledged a sign of life that was given at `at` (`monotonicMs`). */
export function noteAlive(shared: SharedArrayBuffer, at: number): void {
  const words = new Int32Array(shared)
  Atomics.store(words, aliveAt, at)
  Atomics.store(words, isWatchedAt, 1)
}

/** Others have committed since the last sign of life. */
export function noteOthersCommit(shared: SharedArrayBuffer): void {
  Atomics.add(new Int32Array(shared), othersCommitsAt, 1)
}

/** Which duties others have, by their numbers; threads that rest look again. */
export function noteOthers(shared: SharedArrayBuffer, duties: readonly number[]): void {
  const words = new Int32Array(shared)
  let haveMoved = false
  for (let word = 0; word < dutyWords; word++) {
    const bits = duties.reduce(
      (all, duty) => (duty >> 5 === word ? all | (1 << (duty & 31)) : all),
      0,
    )
    if (Atomics.exchange(words, othersAt + word, bits) !== bits) haveMoved = true
  }
  if (haveMoved) Atomics.add(words, othersCommitsAt, 1)
}

/**
 * A time that all threads share and that no clock sets back: as a number of 32 bits, of which only differences count.
 */
export const monotonicMs = () => Number(process.hrtime.bigint() / 1_000_000n) | 0
