import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A response as it stood on the wire. Header names are in lower case. */
export interface RawResponse {
  version: string
  status: number
  reason: string
  headers: Map<string, string[]>
  body: Buffer
}

/** A TCP connection on which tests write requests byte for byte. */
export class RawConnection {
  readonly #socket: Socket
  #received = Buffer.alloc(0)
  #closed = false
  #changed: (() => void)[] = []

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    // A reset is one way to close; only what came before it counts.
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#closed = true
      this.#wake()
    })
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const connection = new RawConnection(socket)
    await once(socket, 'connect')
    return connection
  }

  /** Writes latin1, so that every char is a byte. */
  write(text: string | Buffer): this {
    if (!this.#socket.destroyed) this.#socket.write(text as string, 'latin1')
    return this
  }

  /** The next complete response, or `undefined` if the server closed before one. */
  async response(toHead = false): Promise<RawResponse | undefined> {
    for (;;) {
      const found = parseResponse(this.#received, toHead, this.#closed)
      if (found !== undefined) {
        this.#received = this.#received.subarray(found.length)
        return found.response
      }
      if (this.#closed) return undefined
      await this.#change()
    }
  }

  /** Everything that comes until the server closes, unparsed. */
  async rest(): Promise<string> {
    while (!this.#closed) await this.#change()
    return this.#received.toString('latin1')
  }

  /** Closes our side; the server sees an abort if it still owes an answer. */
  async destroy(): Promise<void> {
    if (this.#closed) return
    this.#socket.destroy()
    while (!this.#closed) await this.#change()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve))
  }

  #wake(): void {
    for (const resolve of this.#changed.splice(0)) resolve()
  }
}

/** One request on a connection of its own. */
export async function rawRequest(port: number, text: string | Buffer) {
  const connection = await RawConnection.open(port)
  const response = await connection.write(text).response(text.toString().startsWith('HEAD '))
  await connection.destroy()
  return response
}

/** Throws if the text cannot begin a response. `undefined`: more has to come, unless `closed`. */
export function parseResponse(
  bytes: Buffer,
  toHead = false,
  closed = false,
): { response: RawResponse; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [line = '', ...fields] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const start = /^(HTTP\/1\.1) (\d{3}) ([\x20-\x7e]*)$/.exec(line)
  if (start === null) throw new Error(`Not a status line: ${JSON.stringify(line.slice(0, 200))}`)
  const headers = new Map<string, string[]>()
  for (const field of fields) {
    const parts = /^([A-Za-z0-9-]+): ([\x20-\x7e\t]*)$/.exec(field)
    if (parts === null) throw new Error(`Not a header field: ${JSON.stringify(field)}`)
    const name = (parts[1] ?? '').toLowerCase()
    headers.set(name, [...(headers.get(name) ?? []), parts[2] ?? ''])
  }
  const status = Number(start[2])
  // RFC 9110 §15.2: interim responses have no body; RFC 9112 §6.3 for the others.
  const bodiless = toHead || status < 200 || status === 204 || status === 304
  const lengths = headers.get('content-length') ?? []
  // RFC 9112 §6.3: without a length the body ends with the connection. Refusals of uWS 20.57 are like this.
  const isToTheEnd = lengths.length === 0 && headers.get('connection')?.[0] === 'close'
  if (isToTheEnd && !bodiless && !closed) return undefined
  if (!bodiless && !isToTheEnd && (lengths.length !== 1 || !/^\d+$/.test(lengths[0] ?? ''))) {
    throw new Error(`No single Content-Length: ${JSON.stringify(lengths)}`)
  }
  const bodyStart = headEnd + 4
  const declared = isToTheEnd ? bytes.length - bodyStart : Number(lengths[0])
  const length = bodyStart + (bodiless ? 0 : declared)
  if (bytes.length < length) return undefined
  const body = Buffer.from(bytes.subarray(bodyStart, length))
  return {
    response: { version: start[1] ?? '', status, reason: start[3] ?? '', headers, body },
    length,
  }
}
