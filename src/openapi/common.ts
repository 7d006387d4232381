import { type Described, type RefusalExample, refusal } from '../contract/index.js'
import { closed, count, text } from '../fields/index.js'
import type { ApiRoute } from '../http/index.js'

/** The errors that an endpoint has because of its route, whatever it does. */
export function commonRefusals(
  route: ApiRoute,
  { may, query, refusesOthers }: Pick<Described, 'may' | 'query' | 'refusesOthers'>,
): RefusalExample[] {
  const looksAtQuery = query !== undefined || refusesOthers === true
  return [
    // JSON bodies already have it among their refusals.
    ...(looksAtQuery && route.body !== 'json' ? [shapeRefusal] : []),
    ...(may === 'operator' ? [otherHost] : []),
    ...(route.body === 'json' ? jsonRefusals : []),
    ...(route.body === 'form' ? formRefusals : []),
    ...(route.body === undefined ? [] : bodyRefusals(route.maxBodyBytes)),
    ...(route.auth ? keyRefusals : []),
    // Without a key nobody knows whose `Idempotency-Key` it is, so public routes take none.
    ...(route.auth && route.method === 'POST' ? repeatRefusals : []),
    stopping,
  ]
}

/** A request whose fields are wrong: the validator's raw structure, without `code`. */
export const shapeRefusal: RefusalExample = {
  code: 'validation_error',
  status: 400,
  when: 'A field is missing or wrong',
  shape: 'InvalidFields',
  schema: {
    description: 'Every field that is wrong, at most 50. The only error body without `code`.',
    ...closed({
      success: { const: false },
      error: closed({
        issues: {
          type: 'array',
          minItems: 1,
          maxItems: 50,
          items: closed({
            code: text('`required`, `invalid_type` or `invalid_` and the rule'),
            expected: text('The type or rule that the value must meet'),
            received: text('The type that was given; `undefined` for none'),
            path: {
              type: 'array',
              items: { type: 'string' },
              description: 'Where the field is: names of fields, and places in arrays from `0`',
            },
            message: text('What is expected there, and the beginning of what came'),
          }),
        },
        name: { const: 'StructError' },
      }),
    }),
  },
  value: {
    success: false,
    error: {
      issues: [
        {
          code: 'required',
          expected: 'a string: "email@domain" or "Name <email@domain>"',
          received: 'undefined',
          path: ['from'],
          message: 'Required. Expected a string: "email@domain" or "Name <email@domain>"',
        },
      ],
      name: 'StructError',
    },
  },
}

/** RFC 9110 §12.5.3: the answer names in Accept-Encoding what would be taken. */
const codingRefusal = refusal(
  'unsupported_media_type',
  'The Content-Encoding is another than gzip',
  'Send the body gzipped, or without a Content-Encoding',
)

/**
 * What every operation with a JSON body can answer before its own code runs; they are added to
 * each, so that no operation can forget one.
 */
const jsonRefusals: RefusalExample[] = [
  shapeRefusal,
  refusal('validation_error', 'The body is gzipped badly', 'The body is not valid gzip'),
  refusal(
    'validation_error',
    'The body is not a JSON object',
    'Malformed JSON: line 1, column 2: expected a name in double quotes or } but the text ends',
  ),
  refusal(
    'unsupported_media_type',
    'The body is not declared as JSON',
    'Send the body as application/json in UTF-8',
  ),
  codingRefusal,
]

/** The same for the import, the only request that is not JSON (interface.md). */
const formRefusals: RefusalExample[] = [
  refusal(
    'validation_error',
    'The form is malformed',
    'Malformed multipart body: the closing boundary is missing',
  ),
  refusal(
    'unsupported_media_type',
    'The body is not declared as a form',
    'Send the body as multipart/form-data',
  ),
  codingRefusal,
]

/** The bound differs by route, as an email with attachments may be larger than a topic. */
const bodyRefusals = (maxBodyBytes: number): RefusalExample[] => [
  refusal(
    'validation_error',
    'The body took too long to arrive',
    'The body took too long to arrive',
    { status: 408 },
  ),
  refusal(
    'validation_error',
    'The body is too large',
    `The body is larger than ${maxBodyBytes} bytes`,
    {
      status: 413,
      shape: 'TooLarge',
      fields: { max: count('How many bytes a body may have') },
      example: { max: maxBodyBytes },
    },
  ),
]

/**
 * Two codes but one message and no more fields: by interface.md nothing else may distinguish a
 * missing key from a wrong one, so that nobody learns which keys exist.
 */
const keyRefusals: RefusalExample[] = [
  refusal('missing_api_key', 'No Authorization header', 'Unauthorized'),
  refusal('invalid_api_key', 'The key is garbled, unknown, deleted or expired', 'Unauthorized'),
  refusal(
    'forbidden',
    'The key may not do this, or not from this address',
    'This key\'s scope is "read": it may only read. This needs a key of the scope "full"',
  ),
  refusal('rate_limit_exceeded', 'Too many requests', 'Too many requests; try again in 12 s'),
  refusal('application_error', 'A fault of the service', 'Something went wrong on our side'),
]

/**
 * RFC 9110 §15.5.20: for the operator's API, which is served only by its own names, like the pages.
 */
const otherHost = refusal(
  'forbidden',
  'The Host of the request is none that the listener is known by',
  'This server is not known as "posthorn.internal": call it by its IP address, or add the name to allowed_hosts in [http.private] of posthorn.toml',
  { status: 421 },
)

/** For every POST: `Idempotency-Key`. */
const repeatRefusals: RefusalExample[] = [
  refusal(
    'validation_error',
    'The Idempotency-Key is malformed',
    'Idempotency-Key: expected 1 to 255 visible ASCII characters',
  ),
  refusal(
    'concurrent_idempotent_request',
    'The first request with the key is still running',
    'The first request with this Idempotency-Key is still running; try again in a moment',
  ),
  refusal(
    'invalid_idempotent_request',
    'The key was used for something else',
    'This Idempotency-Key was already used with another request body',
  ),
]

/**
 * A stop announces itself for a while (`http.shutdown_notice`), in which clients that keep a
 * connection see this.
 */
const stopping = refusal(
  'service_unavailable',
  'The server is being stopped',
  'The server is shutting down',
)

/** The answers where there is no endpoint, which belong to no particular path. */
export const nowhere = {
  NoSuchPath: refusal('not_found', 'No such path', 'There is nothing at this path'),
  NoSuchMethod: refusal(
    'not_found',
    'The path does not know the method',
    'PATCH is not allowed here, only GET, HEAD, OPTIONS',
    { status: 405 },
  ),
}
