import type { Clock } from '../clock/index.js'

/** Shared, as making a buffer, even an empty one, costs a microsecond. */
export const noBytes: Buffer = Buffer.alloc(0)

const firstBufferBytes = 16 * 1024
/**
 * How much may wait for a reader that takes a body piece by piece, and how much is held of a body that
 * nobody has asked for yet, which may be a stranger's. Beyond it the client has to wait.
 */
const windowBytes = 256 * 1024
/**
 * A sender over the limit may still finish up to this multiple, so that it gets to read the 413
 * (stack.md D2).
 */
const patience = 4

// Smaller buffers are cut from Node's own pool.
const smallBytes = 4 * 1024
const maxSpare = 64
// Large buffers have this many bytes or a multiple, so that the next body fits a buffer that another
// has left.
const largeBytes = 256 * 1024
const mostLargeBytes = 2 * 1024 * 1024
const maxLarge = 4

/** The memory that a server's unfinished requests hold together. */
export interface BodyMemory {
  usedBytes: number
  readonly maxBytes: number
  /** Buffers of `firstBufferBytes` for the next bodies: making a buffer costs more than filling it. */
  readonly spare: Buffer[]
  /** Large buffers likewise, until V8 collects them: the first touch of each new page takes a microsecond or more. */
  readonly spareLarge: WeakRef<Buffer>[]
}

export const makeBodyMemory = (maxBytes: number): BodyMemory => ({
  usedBytes: 0,
  maxBytes,
  spare: [],
  spareLarge: [],
})

/** Calls `wake` once after `BodyContext.bodyTimeoutMs`; the returned function cancels it. */
export type BodyTimer = (wake: () => void) => () => void

/**
 * One for all bodies. A timer is set only if the turn of the event loop ends before the body has arrived, as
 * most bodies come with their heads.
 */
export function makeBodyTimer(clock: Clock, timeoutMs: number): BodyTimer {
  const begun = new Set<() => void>()
  const timed = new Map<() => void, () => void>()
  let isTurnOpen = false
  const endTurn = () => {
    isTurnOpen = false
    for (const wake of begun) timed.set(wake, clock.after(timeoutMs, wake))
    begun.clear()
  }
  return (wake) => {
    if (!isTurnOpen) setImmediate(endTurn)
    isTurnOpen = true
    begun.add(wake)
    return () => {
      begun.delete(wake)
      timed.get(wake)?.()
      timed.delete(wake)
    }
  }
}

/** Pauses and resumes the client's sending. */
export interface BodyFlow {
  pause(): void
  resume(): void
}

interface BodyContext {
  bodyMemory: BodyMemory
  bodyTimer: BodyTimer
}

/**
 * The body of one request while it arrives. uWS hands over chunks from the moment the handler returns,
 * long before anybody asks for them, so they are kept (up to `limitBytes`) or counted and dropped;
 * nobody waits longer than `timeoutMs`. Little more than `windowBytes` is held at once of a body that
 * nobody has asked for, or that is taken `inPieces`.
 */
export class IncomingBody {
  limitBytes = Number.POSITIVE_INFINITY
  /** Every byte has been received. */
  whole = false
  tooLarge = false
  /** There was no memory left beside the bodies of other requests. */
  crowdedOut = false
  late = false
  /** The client has left. */
  gone = false
  #received = 0
  #kept = noBytes
  #keptBytes = 0
  #heldBytes = 0
  #reservedBytes = 0
  #keeping = true
  #hopeless = false
  #waiting: { until: () => boolean; wake: () => void } | undefined
  #stopTimer: (() => void) | undefined
  readonly #memory: BodyMemory
  readonly #timer: BodyTimer
  readonly #flow: BodyFlow
  readonly #inPieces: boolean
  readonly #declaredBytes: number
  #isWanted = false
  #paused = false

  /** `declaredBytes` is the Content-Length, 0 when there is none (a chunked body). */
  constructor(
    limitBytes: number,
    declaredBytes: number,
    { bodyMemory, bodyTimer }: BodyContext,
    flow: BodyFlow,
    inPieces = false,
  ) {
    this.#memory = bodyMemory
    this.#timer = bodyTimer
    this.#flow = flow
    this.#inPieces = inPieces
    this.#declaredBytes = declaredBytes
    this.bound(limitBytes)
  }

  /** Sets a new bound, for a body that began before its bound was known. */
  bound(limitBytes: number): void {
    this.limitBytes = limitBytes
    const bytes = Math.max(this.#received, this.#declaredBytes)
    if (bytes > limitBytes) this.#exceed(bytes)
  }

  /** Takes a chunk from uWS, which reuses its memory as soon as this returns. */
  receive(chunk: ArrayBuffer, last: boolean): void {
    this.#received += chunk.byteLength
    if (this.#received > this.limitBytes) {
      this.#exceed(this.#received)
    } else if (this.#keeping) {
      this.#keep(new Uint8Array(chunk), last)
    }
    this.whole = last
    this.#look()
  }

  /** Settles once the body is whole, too large, crowded out, late or gone; never rejects. */
  async arrived(): Promise<void> {
    this.#isWanted = true
    this.#resume()
    await this.#wait(() => this.whole || this.tooLarge || this.crowdedOut)
  }

  /** Settles once waiting for the rest has no point. */
  async finished(): Promise<void> {
    this.discard()
    await this.#wait(() => this.whole || this.#hopeless)
  }

  bytes(): Buffer {
    return this.#kept.subarray(0, this.#keptBytes)
  }

  /**
   * Replaces the whole body by the result of `change`. Room for `mostBytes` is reserved meanwhile;
   * without that room the body is crowded out.
   */
  async replace(change: (bytes: Buffer) => Promise<Buffer>, mostBytes: number): Promise<void> {
    const memory = this.#memory
    if (memory.usedBytes + mostBytes > memory.maxBytes) {
      this.crowdedOut = true
      this.discard()
      return
    }
    memory.usedBytes += mostBytes
    try {
      const changed = await change(this.bytes())
      // The client may have left meanwhile, and then the kept bytes are gone.
      if (this.gone) return
      this.#hold(changed)
      this.#keptBytes = changed.byteLength
    } finally {
      memory.usedBytes -= mostBytes
    }
  }

  /**
   * Also counts the values made of the body, until it is discarded; without room for them it is crowded
   * out.
   */
  reserve(bytes: number): void {
    if (this.gone) return
    const memory = this.#memory
    if (memory.usedBytes + bytes > memory.maxBytes) {
      this.crowdedOut = true
      this.discard()
      return
    }
    memory.usedBytes += bytes
    this.#reservedBytes += bytes
  }

  /**
   * What has arrived since the last call; waits until there is something, and is empty at the end.
   */
  async take(): Promise<Buffer> {
    await this.#wait(() => this.#keptBytes > 0 || this.whole || this.tooLarge || this.crowdedOut)
    // Each piece has its own time limit.
    this.#stopTimer?.()
    this.#stopTimer = undefined
    const taken = this.bytes()
    this.release()
    this.#resume()
    return taken
  }

  /**
   * Gives the kept bytes to other requests, which will be read into them: nobody may read these bytes any
   * more.
   */
  recycle(): void {
    leave(this.#memory, this.#kept)
    this.release()
  }

  /** Frees the kept bytes. */
  release(): void {
    this.#hold(noBytes)
    this.#keptBytes = 0
  }

  /** Frees the kept bytes; bytes that still arrive are only counted. */
  discard(): void {
    this.#keeping = false
    this.release()
    this.#memory.usedBytes -= this.#reservedBytes
    this.#reservedBytes = 0
    this.#resume()
  }

  /** The client has gone: wakes whoever waits. */
  abort(): void {
    this.gone = true
    this.discard()
    this.#look()
  }

  #exceed(bytes: number): void {
    this.tooLarge = true
    this.#hopeless = bytes > this.limitBytes * patience
    this.discard()
  }

  // Grows by doubling: a list of chunks would cost a hundred times a one-byte chunk's size. A wanted body
  // that is really arriving gets its whole buffer at once, so that it is not copied repeatedly.
  #keep(chunk: Uint8Array, last: boolean): void {
    const used = this.#keptBytes
    const wanted = used + chunk.byteLength
    if (this.#kept.byteLength < wanted) {
      const isEnough = last || (!this.#isWanted && wanted >= windowBytes)
      const room = isEnough ? wanted : this.#roomFor(wanted)
      const size = Math.min(sizeFor(room), Math.max(firstBufferBytes, this.limitBytes))
      if (this.#memory.usedBytes + size > this.#memory.maxBytes) {
        this.crowdedOut = true
        this.discard()
        return
      }
      const grown = takeSpare(this.#memory, size) ?? Buffer.allocUnsafe(size)
      if (used > 0) this.#kept.copy(grown, 0, 0, used)
      leave(this.#memory, this.#kept)
      this.#hold(grown)
    }
    this.#kept.set(chunk, used)
    this.#keptBytes = wanted
    if (wanted < windowBytes || last || this.#paused) return
    if (this.#isWanted && !this.#inPieces) return
    this.#paused = true
    this.#flow.pause()
  }

  #roomFor(wanted: number): number {
    const isWhole = this.#isWanted && !this.#inPieces && wanted >= windowBytes
    return isWhole && this.#declaredBytes >= wanted
      ? this.#declaredBytes
      : Math.max(firstBufferBytes, wanted * 2)
  }

  #resume(): void {
    if (this.#paused) this.#flow.resume()
    this.#paused = false
  }

  #hold(buffer: Buffer): void {
    this.#memory.usedBytes += buffer.byteLength - this.#heldBytes
    this.#heldBytes = buffer.byteLength
    this.#kept = buffer
  }

  #wait(ready: () => boolean): Promise<void> {
    const until = () => this.gone || this.late || ready()
    if (until()) return Promise.resolve()
    this.#stopTimer ??= this.#timer(() => {
      this.late = true
      this.discard()
      this.#look()
    })
    return new Promise((wake) => {
      this.#waiting = { until, wake }
    })
  }

  #look(): void {
    if (this.whole || this.late || this.gone) {
      this.#stopTimer?.()
      this.#stopTimer = undefined
    }
    const waiting = this.#waiting
    if (waiting === undefined || !waiting.until()) return
    this.#waiting = undefined
    waiting.wake()
  }
}

function sizeFor(room: number): number {
  if (room <= smallBytes) return room
  if (room <= firstBufferBytes) return firstBufferBytes
  return room < largeBytes ? room : Math.ceil(room / largeBytes) * largeBytes
}

/** A buffer that another body left; its contents have no meaning. */
function takeSpare({ spare, spareLarge }: BodyMemory, size: number): Buffer | undefined {
  if (size === firstBufferBytes) return spare.pop()
  for (const [i, left] of size < largeBytes ? [] : spareLarge.entries()) {
    if (left.deref()?.byteLength !== size) continue
    spareLarge.splice(i, 1)
    return left.deref()
  }
  return undefined
}

/** Leaves a buffer that nobody reads any more to the next bodies. */
function leave({ spare, spareLarge }: BodyMemory, buffer: Buffer): void {
  const { byteLength } = buffer
  if (byteLength === firstBufferBytes && spare.length < maxSpare) spare.push(buffer)
  if (byteLength > mostLargeBytes || byteLength === 0 || byteLength % largeBytes !== 0) return
  spareLarge.push(new WeakRef(buffer))
  if (spareLarge.length > maxLarge) spareLarge.shift()
}
