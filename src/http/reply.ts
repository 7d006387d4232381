import { STATUS_CODES } from 'node:http'

/** A response as the exchange writes it: everything decided, nothing sent. */
export interface Outgoing {
  status: number
  headers: Record<string, string | string[]>
  /** Written behind `headers`. */
  fixed?: FixedHeaders
  body: string | Buffer
  /** Replaces the body: pieces that are sent as they come, at the client's pace. */
  stream?: AsyncIterable<string | Buffer>
  /** Ends the connection after this response. */
  close?: boolean
}

/**
 * Header fields that many answers have. They are checked once, and handed to uWS as one value, as it accepts line
 * ends in a value.
 */
export class FixedHeaders {
  readonly name: string
  readonly value: string

  constructor(headers: Record<string, string>) {
    checkHeaders(headers)
    const [[name, value] = ['', ''], ...more] = Object.entries(headers)
    this.name = name
    this.value = [value, ...more.map(([other, theirs]) => `${other}: ${theirs}`)].join('\r\n')
  }
}

/** Shared, so that the many answers without headers of their own can be recognised. */
export const noHeaders: Record<string, string> = {}

/** What an API handler returns to answer with something else than 200 and its bare value. */
export class ApiReply {
  constructor(
    readonly status: number,
    readonly body: unknown,
    readonly headers: Record<string, string> = noHeaders,
  ) {}
}

/** Answers with `status` and `body` as JSON: `return reply(201, { id })`. */
export function reply(status: number, body: unknown, headers?: Record<string, string>): ApiReply {
  return new ApiReply(status, body, headers)
}

/** A 200 whose last field is a long text, whose pieces are sent as they come. */
export class LongReply extends ApiReply {
  constructor(
    body: Readonly<Record<string, unknown>>,
    readonly field: string,
    /** No piece has a character that JSON escapes; base64 has none. */
    readonly pieces: AsyncIterable<string>,
  ) {
    super(200, body)
  }
}

/** The JSON of such an answer, which is never in memory as a whole. */
export async function* jsonPieces({ body, field, pieces }: LongReply): AsyncGenerator<string> {
  const before = JSON.stringify(body).slice(0, -1)
  yield `${before}${before === '{' ? '' : ','}${JSON.stringify(field)}:"`
  yield* pieces
  yield '"}'
}

/** `200 OK` for 200; a status without a name still gets a line that parses. */
export function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? 'Unknown'}`
}

/**
 * Throws if a header would split the response. uWS writes names and values as they come: a CR LF in
 * one would end the header section (RFC 9110 §5.5).
 */
export function checkHeaders(headers: Record<string, string | string[]>): void {
  for (const name in headers) {
    if (!/^[a-z0-9-]+$/i.test(name)) throw new Error('A response header has an invalid name')
    const value = headers[name]
    for (const one of Array.isArray(value) ? value : [value]) {
      if (typeof one !== 'string' || !/^[\t\x20-\x7e]*$/.test(one)) {
        throw new Error(`Response header ${name} has a value that cannot be sent`)
      }
    }
  }
}
