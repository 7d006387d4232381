import type { Clock } from '../clock/index.js'

/** Shared: making one, even of nothing, costs a microsecond. */
export const noBytes: Buffer = Buffer.alloc(0)

const firstBufferBytes = 16 * 1024
/**
 * What may wait for whoever takes a body piece by piece, and what is held of one that nobody has asked for
 * yet: that may be a stranger's. The client then has to wait.
 */
const windowBytes = 256 * 1024
/** A sender that is over the limit may still finish, so that it gets to read the 413 (stack.md D2). */
const patience = 4

// Smaller ones are cut from Node's own pool.
const smallBytes = 4 * 1024
const maxSpare = 64
// Large buffers have so many bytes or a multiple, so that the next body fits one that another has left.
const largeBytes = 256 * 1024
const mostLargeBytes = 2 * 1024 * 1024
const maxLarge = 4

/** What the unfinished requests of a server hold together. */
export interface BodyMemory {
  usedBytes: number
  readonly maxBytes: number
  /** Buffers of `firstBufferBytes` for the next bodies: to make a buffer costs more than to fill it. */
  readonly spare: Buffer[]
  /** Large ones likewise, for as long as V8 leaves them: the first touch of each new page takes a microsecond or more. */
  readonly spareLarge: WeakRef<Buffer>[]
}

export const makeBodyMemory = (maxBytes: number): BodyMemory => ({
  usedBytes: 0,
  maxBytes,
  spare: [],
  spareLarge: [],
})

/** Calls `wake` once after `BodyContext.bodyTimeoutMs`; the returned function takes it back. */
export type BodyTimer = (wake: () => void) => () => void

/**
 * One for all bodies: a timer is set only where the turn of the event loop ends before the body is there. Most
 * come with their heads.
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

/** Stops the client from sending on, and lets it. */
export interface BodyFlow {
  pause(): void
  resume(): void
}

interface BodyContext {
  bodyMemory: BodyMemory
  bodyTimer: BodyTimer
}

/**
 * The body of one request while it arrives. uWS hands over chunks from the moment the handler
 * returns, long before anybody asks for them, so they are kept (up to `limitBytes`) or counted
 * and thrown away; nobody waits longer than `timeoutMs`. Until it is asked for, and of one that is taken
 * `inPieces`, little more than `windowBytes` is held at once.
 */
export class IncomingBody {
  limitBytes = Number.POSITIVE_INFINITY
  /** Every byte has been received. */
  whole = false
  tooLarge = false
  /** There was no memory for it beside the bodies of other requests. */
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

  /** Bounds it anew, as one that began before its bound was known. */
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

  /** Settles once there is no point in waiting for the rest. */
  async finished(): Promise<void> {
    this.discard()
    await this.#wait(() => this.whole || this.#hopeless)
  }

  bytes(): Buffer {
    return this.#kept.subarray(0, this.#keptBytes)
  }

  /**
   * Puts what `change` makes of the whole body in its place, for which room for `mostBytes` is kept
   * meanwhile; where there is none, it is crowded out.
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
      // The client may have left meanwhile, and with it what was kept.
      if (this.gone) return
      this.#hold(changed)
      this.#keptBytes = changed.byteLength
    } finally {
      memory.usedBytes -= mostBytes
    }
  }

  /** Counts what is made of it as well, until it is discarded; without room for that it is crowded out. */
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

  /** What has arrived since the last call, as soon as that is something; empty at the end. */
  async take(): Promise<Buffer> {
    await this.#wait(() => this.#keptBytes > 0 || this.whole || this.tooLarge || this.crowdedOut)
    // Each piece has its own time.
    this.#stopTimer?.()
    this.#stopTimer = undefined
    const taken = this.bytes()
    this.release()
    this.#resume()
    return taken
  }

  /** Lets go of what was kept, which nobody may look at any more: other requests will be read into it. */
  recycle(): void {
    leave(this.#memory, this.#kept)
    this.release()
  }

  /** Lets go of what was kept. */
  release(): void {
    this.#hold(noBytes)
    this.#keptBytes = 0
  }

  /** Frees what was kept; what still arrives is only counted. */
  discard(): void {
    this.#keeping = false
    this.release()
    this.#memory.usedBytes -= this.#reservedBytes
    this.#reservedBytes = 0
    this.#resume()
  }

  /** The client is gone: whoever waits is woken. */
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

  // Grows by doubling: a list of chunks would cost a hundred times a one-byte chunk's size. Of a body that
  // is wanted and has begun in earnest the whole is awaited, which is then not copied again and again.
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

/** A buffer that another body has left; what is in it is of no meaning. */
function takeSpare({ spare, spareLarge }: BodyMemory, size: number): Buffer | undefined {
  if (size === firstBufferBytes) return spare.pop()
  for (const [i, left] of size < largeBytes ? [] : spareLarge.entries()) {
    if (left.deref()?.byteLength !== size) continue
    spareLarge.splice(i, 1)
    return left.deref()
  }
  return undefined
}

/** Leaves a buffer, which nobody looks at any more, to the next bodies. */
function leave({ spare, spareLarge }: BodyMemory, buffer: Buffer): void {
  const { byteLength } = buffer
  if (byteLength === firstBufferBytes && spare.length < maxSpare) spare.push(buffer)
  if (byteLength > mostLargeBytes || byteLength === 0 || byteLength % largeBytes !== 0) return
  spareLarge.push(new WeakRef(buffer))
  if (spareLarge.length > maxLarge) spareLarge.shift()
}
