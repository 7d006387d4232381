import { errorCatalogue } from '../errors/index.js'
import type { Schema } from '../fields/index.js'

/** What a developer reads first. */
export const welcome = `Posthorn signs mail and delivers it straight to the recipients' servers.

Every request but those marked public carries \`Authorization: Bearer <API key>\`. Bodies are JSON in
UTF-8, gzipped if you like (\`Content-Encoding: gzip\`; the limits hold for what is inflated). Null in an
optional field means absent. Fields that are not known are ignored, but \`reply_to\` and \`scheduled_at\` of a
mail are a 422, as is a whole number beyond 2^53 - 1 in data of your own. Times are ISO 8601 in UTC, ids are UUIDs; an id
of another account, or that is no UUID, is one that does not exist. A slash at the end of a path says
nothing.

A key has a scope: \`full\`; \`sending\`, which sends mail, looks at a mail by its id and cancels a
scheduled one; \`read\`; or \`test\`, which sends as a sending key does, but into the test inbox of the account
and to nobody. A sending or test key may be limited to sender domains, whose mails alone it then
sends and sees, and every key to networks and to a time. What a key may not do is a 403
\`forbidden\` that says what the key may do and what it lacks; an expired key is a 401.

Every POST takes an \`Idempotency-Key\`: 1 to 255 visible ASCII characters. A repeat within 24 hours gets
the first answer again, with \`Idempotency-Replay: true\`; only successes are remembered.

A key may make a number of requests a minute; the \`X-RateLimit-*\` headers count them on every answer.
Where there is no good key they are those of the client's address.
\`X-Request-Id\` is what to quote when asking for help. A path that does not exist is a 404, a method
that a path does not know a 405 with \`Allow\`.

## Errors

An error is \`{ "code", "error" }\`, with more fields where they help. \`code\` is stable and is what to
branch on, \`error\` is for people. Only a request whose fields are wrong is answered with the validator's
own structure (\`InvalidFields\`), without \`code\`. Which codes an endpoint can answer is listed with it.`

/** The catalogue of errors as a table in Markdown, folded because it is long. */
export function errorTable(): string {
  const rows = Object.entries(errorCatalogue).map(
    ([code, { statuses, meaning }]) => `| \`${code}\` | ${statuses.join(', ')} | ${meaning} |`,
  )
  const table = ['| code | status | meaning |', '| --- | --- | --- |', ...rows].join('\n')
  return `<details>\n<summary>All codes</summary>\n\n${table}\n\n</details>`
}

/** Required unless said otherwise: a header that may be missing has to be described as such. */
const header = (description: string, schema: Schema, required = true): Schema => ({
  description,
  required,
  schema,
})
const wholeNumber = { type: 'integer', minimum: 0 }
const seconds = { type: 'integer', minimum: 1 }

/** Only for a 405, which no operation has. */
export const allow = header('The methods that the path knows', { type: 'string' })

/**
 * The three of the rate limit come with every answer (interface.md, Limits), errors included, so
 * that a client can slow down before it is refused.
 */
export const responseHeaders: Record<string, Schema> = {
  'X-Request-Id': header('Names this request in the log', { type: 'string', format: 'uuid' }),
  'X-RateLimit-Limit': header(
    'Requests a key, or an address without one, may make in a window of 60 seconds',
    wholeNumber,
  ),
  'X-RateLimit-Remaining': header('Requests left in this window', wholeNumber),
  'X-RateLimit-Reset': header('When the window ends, in Unix seconds', wholeNumber),
  'Idempotency-Replay': header(
    'There if this is the answer to an earlier request with the same key',
    { const: 'true' },
    false,
  ),
  'WWW-Authenticate': header('The scheme that is wanted', { const: 'Bearer' }),
  'Retry-After': header('Seconds to wait before trying again', seconds),
  'Retry-After-If-Brief': header(
    'Seconds to wait before trying again; not there if waiting does not help',
    seconds,
    false,
  ),
}
