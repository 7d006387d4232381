import { randomUUID } from 'node:crypto'
import { ApiError } from '../errors/index.js'
import { inflate, inflatePieces, isGzipped, mostInflated, tooLarge } from './content-coding.js'
import type { ServerContext } from './context.js'
import { announcesBody, declaredBytes, type Head, type NativeResponse } from './guard.js'
import { IncomingBody, noBytes } from './incoming-body.js'
import { checkHeaders, type Outgoing, statusLine } from './reply.js'

/** Larger bodies are offered piece by piece, so that a slow reader costs one copy and no more. */
const largeBodyBytes = 64 * 1024
// A body becomes a text, then values that live as long as its request, and what those are decoded to.
const largeTextBytes = 1024 * 1024
const timesAsParsed = 2

/** One request and its one response, on uWS's objects, which must never be touched after the end. */
export class Exchange {
  readonly requestId = randomUUID()
  readonly head: Head
  /** The client has gone or the response is complete: the native response is dead. */
  ended = false
  readonly #native: NativeResponse
  readonly #context: ServerContext
  #body: IncomingBody | undefined
  #remoteAddress: string | undefined

  constructor(native: NativeResponse, head: Head, context: ServerContext) {
    this.#native = native
    this.head = head
    this.#context = context
    context.work.begin()
    // uWS ends the process if a response outlives its callback without this.
    native.onAborted(() => {
      this.#body?.abort()
      this.#end()
    })
  }

  /** Asked for only when somebody wants it: it costs a system call. Empty if the client has gone. */
  get remoteAddress(): string {
    if (this.#remoteAddress === undefined && !this.ended) {
      const peer = Buffer.from(this.#native.getRemoteAddressAsText()).toString('latin1')
      this.#remoteAddress = this.#context.clientAddress(peer, this.header('x-forwarded-for'))
    }
    return this.#remoteAddress ?? ''
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

  /**
   * The whole body, inflated unless nobody will look at it (`as: 'sent'`), empty if there is none.
   * Throws what the client is to be told.
   */
  async readBody(as: 'sent' | 'inflated' = 'inflated'): Promise<Buffer> {
    const body = this.#body
    if (body === undefined) return noBytes
    const gzipped = as === 'inflated' && isGzipped(this.header('content-encoding'))
    if (!body.whole) await body.arrived()
    refuseUnfit(body)
    // Gone: nobody will read the answer, but the pipeline has to end.
    if (!body.whole) throw didNotArrive()
    if (gzipped && body.bytes().length > 0) {
      const most = mostInflated(body.bytes().length, body.limitBytes)
      await body.replace((bytes) => inflate(bytes, body.limitBytes), most)
      refuseUnfit(body)
    }
    if (as === 'inflated' && body.bytes().length > largeTextBytes) {
      body.reserve(timesAsParsed * body.bytes().length)
      refuseUnfit(body)
    }
    return body.bytes()
  }

  /** Frees the bytes of a body that was read whole; what was counted for what is made of them stays. */
  releaseBody(): void {
    this.#body?.release()
  }

  /** The body piece by piece while it arrives, at the pace of who asks. Throws like `readBody`. */
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

  /** Sends the response, after the rest of a body that nobody wanted. */
  async send(outgoing: Outgoing): Promise<void> {
    checkHeaders(outgoing.headers)
    const body = this.#body
    if (body !== undefined && !body.whole) await body.finished()
    body?.discard()
    if (this.ended) return
    const close = outgoing.close === true || this.#context.closing || body?.whole === false
    // Every native call below may be the one after which uWS frees the response.
    this.#native.cork(() => this.#write(outgoing, close))
  }

  /** Ends the connection without a word. */
  drop(): void {
    if (!this.ended) this.#native.close()
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

  #write({ status, headers, body }: Outgoing, close: boolean): void {
    const native = this.#native
    native.writeStatus(statusLine(status))
    native.writeHeader('X-Request-Id', this.requestId)
    for (const name in headers) {
      const value = headers[name] ?? ''
      if (typeof value === 'string') native.writeHeader(name, value)
      else for (const one of value) native.writeHeader(name, one)
    }
    const toHead = this.head.method === 'HEAD'
    if (toHead || status === 204 || status === 304) {
      // Any argument breaks it: `undefined` writes a Content-Length of 2^63 (RFC 9110 §8.6 wants
      // none with 204), a length leaves the response unfinished and the connection useless.
      if (toHead) native.writeHeader('Content-Length', String(Buffer.byteLength(body)))
      if (close) native.writeHeader('Connection', 'close')
      native.endWithoutBody()
    } else if (body.length > largeBodyBytes) {
      if (close) native.writeHeader('Connection', 'close')
      this.#writeLarge(typeof body === 'string' ? Buffer.from(body) : body)
      return
    } else {
      native.end(body, close)
    }
    this.#end()
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
    this.#context.work.end()
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
