import { randomUUID } from 'node:crypto'
import { nextTurn } from '../bounded/index.js'
import { ApiError } from '../errors/index.js'
import { inflate, inflatePieces, isGzipped, mostInflated, tooLarge } from './content-coding.js'
import type { ServerContext } from './context.js'
import { announcesBody, declaredBytes, type Head, hostOf, type NativeResponse } from './guard.js'
import { IncomingBody, noBytes } from './incoming-body.js'
import type { EndTurn } from './large-bodies.js'
import { type ClientInFront, clientInFront } from './over-tls.js'
import { checkHeaders, noHeaders, type Outgoing, statusLine } from './reply.js'

/** Larger bodies are written piece by piece, so that a slow reader costs only one copy. */
const largeBodyBytes = 64 * 1024
// A large body costs more than its bytes: a text, values that live as long as its request, and what
// these are decoded to.
const largeTextBytes = 1024 * 1024
const timesAsParsed = 2
// Smaller bodies, such as single mails, do not wait for a turn.
const takesTurnBytes = 256 * 1024
/** The first wait before the next piece for a slow client; doubled each time. */
const firstWaitMs = 25

/** One request and its one response, on uWS's objects, which must never be touched after the end. */
export class Exchange {
  readonly requestId = randomUUID()
  readonly head: Head
  /** The client has gone or the response is complete: the native response must not be used. */
  ended = false
  readonly #native: NativeResponse
  readonly #context: ServerContext
  #body: IncomingBody | undefined
  #endTurn: EndTurn | undefined
  #remoteAddress: string | undefined
  /**
   * Undefined: the request came by TCP. Null: it came from a listener in front, and its client is
   * unknown.
   */
  readonly #inFront: ClientInFront | null | undefined
  #gone: AbortController | undefined
  #left: (() => void) | undefined

  constructor(native: NativeResponse, head: Head, context: ServerContext) {
    this.#native = native
    this.head = head
    this.#context = context
    this.#inFront = context.overTls && clientInFront(context.overTls, native)
    context.work.begin()
  }

  /** Must be called if the answer is not sent yet when the native callback returns: uWS ends the process otherwise. */
  outlive(): void {
    this.#native.onAborted(() => {
      this.#body?.abort()
      this.#end()
      this.#left?.()
    })
  }

  /**
   * Aborted when the client has gone, the answer is complete, or the server closes: an endless answer must
   * then end.
   */
  get signal(): AbortSignal {
    // Made only on demand, as the API's many answers need none.
    this.#gone ??= new AbortController()
    if (this.ended) this.#gone.abort()
    return AbortSignal.any([this.#gone.signal, this.#context.closes])
  }

  /** How the request came: `unknown` must not be served. */
  get cameBy(): 'tcp' | 'tls' | 'unknown' {
    if (this.#inFront === null) return 'unknown'
    return this.#inFront?.tls === true ? 'tls' : 'tcp'
  }

  /** Read only on demand, as it costs a system call. Empty if the client has gone. */
  get remoteAddress(): string {
    if (this.#remoteAddress === undefined && !this.ended) {
      const peer = this.#peer
      this.#remoteAddress = this.#context.clientAddress(peer, this.header('x-forwarded-for'))
    }
    return this.#remoteAddress ?? ''
  }

  get #peer(): string {
    return (
      this.#inFront?.address ??
      Buffer.from(this.#native.getRemoteAddressAsText()).toString('latin1')
    )
  }

  /** Whether the client speaks TLS with us, or with a proxy of ours that says so. */
  get isSecure(): boolean {
    if (this.cameBy === 'tls') return true
    if (this.header('x-forwarded-proto')?.toLowerCase() !== 'https') return false
    return !this.ended && this.#context.isTrusted(this.#peer)
  }

  header(name: string): string | undefined {
    return this.head.headers.get(name)
  }

  /** Must be called before the native callback returns, or the body's bytes are lost. */
  receiveBody(limitBytes: number, inPieces = false): void {
    if (!announcesBody(this.head)) return
    const declared = declaredBytes(this.head)
    const body = new IncomingBody(limitBytes, declared, this.#context, this.#flow(), inPieces)
    this.#body = body
    this.#native.onData((chunk, last) => body.receive(chunk, last))
  }

  /** Sets a new bound, for a body that began before its bound was known. */
  boundBody(limitBytes: number): void {
    this.#body?.bound(limitBytes)
  }

  get hasBody(): boolean {
    return this.#body !== undefined
  }

  /**
   * The whole body, empty if there is none; inflated unless nobody will read it (`as: 'sent'`).
   * Throws what the client shall be told.
   */
  async readBody(as: 'sent' | 'inflated' = 'inflated'): Promise<Buffer> {
    const body = this.#body
    if (body === undefined) return noBytes
    const gzipped = as === 'inflated' && isGzipped(this.header('content-encoding'))
    if (!body.whole) await body.arrived()
    refuseUnfit(body)
    // The client has gone: nobody will read the answer, but the pipeline has to end.
    if (!body.whole) throw didNotArrive()
    if (gzipped && body.bytes().length > 0) {
      const most = mostInflated(body.bytes().length, body.limitBytes)
      await body.replace((bytes) => inflate(bytes, body.limitBytes), most)
      refuseUnfit(body)
    }
    if (as === 'inflated' && body.bytes().length > takesTurnBytes) {
      this.#endTurn = await this.#context.largeBodies(body.bytes().length)
      if (this.ended) {
        this.#endTurn()
        throw didNotArrive()
      }
    }
    if (as === 'inflated' && body.bytes().length > largeTextBytes) {
      body.reserve(timesAsParsed * body.bytes().length)
      refuseUnfit(body)
    }
    return body.bytes()
  }

  /**
   * Frees the bytes of a body that was read whole, for other requests: nobody may read them any more. The memory
   * reserved for its values stays counted.
   */
  releaseBody(): void {
    this.#body?.recycle()
  }

  /** The values of a large body are already freed, so the next body gets its turn. */
  endTurn(): void {
    this.#endTurn?.()
  }

  /** The body piece by piece while it arrives, at the reader's pace. Throws like `readBody`. */
  bodyPieces(): AsyncGenerator<Buffer> {
    const pieces = this.#pieces()
    const limitBytes = this.#body?.limitBytes ?? 0
    if (!isGzipped(this.header('content-encoding'))) return pieces
    return inflatePieces(pieces, limitBytes)
  }

  async *#pieces(): AsyncGenerator<Buffer> {
    const body = this.#body
    while (body !== undefined) {
      const bytes = await body.take()
      refuseUnfit(body)
      if (body.gone) throw didNotArrive()
      if (bytes.length === 0) return
      yield bytes
    }
  }

  /** Sends the response, after the rest of a body that nobody wanted; at once without such a rest. */
  send(outgoing: Outgoing): Promise<void> | undefined {
    checkHeaders(outgoing.headers)
    const body = this.#body
    if (body !== undefined && !body.whole) return body.finished().then(() => this.#answer(outgoing))
    this.#answer(outgoing)
    return undefined
  }

  #answer(outgoing: Outgoing): void {
    const body = this.#body
    body?.discard()
    this.#endTurn?.()
    if (this.ended) return
    const close = outgoing.close === true || this.#context.closing || body?.whole === false
    // Every native call below may be the one after which uWS frees the response.
    this.#native.cork(() => this.#write(outgoing, close))
    if (outgoing.stream !== undefined && !this.ended) void this.#pour(outgoing.stream)
  }

  /** Closes the connection without an answer. */
  drop(): void {
    if (this.ended) return
    this.#native.close()
    this.#end()
  }

  #flow() {
    return {
      pause: () => {
        if (!this.ended) this.#native.pause()
      },
      resume: () => {
        if (!this.ended) this.#native.resume()
      },
    }
  }

  #write({ status, headers, fixed, body, stream }: Outgoing, close: boolean): void {
    const native = this.#native
    native.writeStatus(statusLine(status))
    native.writeHeader('X-Request-Id', this.requestId)
    writeHeaders(native, headers)
    if (fixed !== undefined) native.writeHeader(fixed.name, fixed.value)
    if (this.cameBy === 'tls') {
      writeHeaders(native, this.#context.overTls?.headersOf?.(hostOf(this.head)) ?? noHeaders)
    }
    const toHead = this.head.method === 'HEAD'
    if (toHead || status === 204 || status === 304) {
      // Any argument breaks it: `undefined` writes a Content-Length of 2^63 (RFC 9110 §8.6 wants
      // none with 204), a length leaves the response unfinished and the connection useless.
      if (toHead && stream === undefined)
        native.writeHeader('Content-Length', String(Buffer.byteLength(body)))
      if (close) native.writeHeader('Connection', 'close')
      native.endWithoutBody()
    } else if (stream !== undefined) {
      // The rest is written by `#pour`, in chunks (RFC 9112 §7.1).
      if (close) native.writeHeader('Connection', 'close')
      return
    } else if (body.length > largeBodyBytes) {
      if (close) native.writeHeader('Connection', 'close')
      this.#writeLarge(typeof body === 'string' ? Buffer.from(body) : body)
      return
    } else {
      native.end(body, close)
    }
    this.#end()
  }

  /**
   * Writes pieces as the client takes them. A failure breaks the connection, so that nobody takes a part for the
   * whole.
   */
  async #pour(pieces: AsyncIterable<string | Buffer>): Promise<void> {
    const native = this.#native
    let waitMs = firstWaitMs
    try {
      for await (const piece of pieces) {
        if (this.ended) return
        let flows = true
        if (piece.length > 0) {
          native.cork(() => {
            flows = native.write(piece)
          })
        }
        // uWS sends its buffer by itself, unless somebody waits with `onWritable`: then it holds the end back for ever
        // (20.30). So we wait longer each time, until uWS closes the connection of a client that reads nothing for 10
        // s.
        if (!flows) await this.#rest(waitMs)
        // A piece takes some milliseconds of a thread that others wait for, and a list of a million has a thousand
        // pieces.
        else await nextTurn()
        waitMs = flows ? firstWaitMs : waitMs * 2
        if (this.ended) return
      }
      if (this.ended) return
      native.cork(() => native.end())
      this.#end()
    } catch (error) {
      const { requestId } = this
      this.#context.log.error({ requestId, error }, 'A streamed answer broke off')
      this.drop()
    }
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#context.clock.after(ms, resolve)
      this.#left = () => {
        cancel()
        resolve()
      }
      if (this.ended) this.#left()
    })
  }

  #writeLarge(body: Buffer): void {
    const native = this.#native
    const start = native.getWriteOffset()
    const [, done] = native.tryEnd(body, body.byteLength)
    if (done) {
      this.#end()
      return
    }
    native.onWritable((offset) => {
      const [sent, finished] = native.tryEnd(body.subarray(offset - start), body.byteLength)
      if (finished) this.#end()
      return sent
    })
  }

  #end(): void {
    if (this.ended) return
    this.ended = true
    this.#endTurn?.()
    this.#gone?.abort()
    this.#context.work.end()
  }
}

function writeHeaders(native: NativeResponse, headers: Outgoing['headers']): void {
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (typeof value === 'string') native.writeHeader(name, value)
    else for (const one of value) native.writeHeader(name, one)
  }
}

function refuseUnfit(body: IncomingBody): void {
  if (body.tooLarge) throw tooLarge(body.limitBytes)
  if (body.crowdedOut) {
    const message = 'Too many large requests at once; try again in a moment'
    throw new ApiError('service_unavailable', message, { headers: { 'Retry-After': '1' } })
  }
  if (body.late) {
    throw new ApiError('validation_error', 'The body took too long to arrive', { status: 408 })
  }
}

const didNotArrive = () => new ApiError('validation_error', 'The body did not arrive')
