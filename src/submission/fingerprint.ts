import { createHash } from 'node:crypto'
import { isJsonObject } from '../json/index.js'
import type { HeaderField } from '../mime/index.js'
import type { OwnHeaders } from './own-headers.js'

// The fields that programs write anew when they send the same message again.
const anew = new Set(['date', 'message-id', 'received', 'x-mailer', 'user-agent'])

/**
 * Equal for messages that say the same to the same people and ask for the same, however often a program writes them:
 * ids, dates and the boundaries between parts are left out. It only shows whether a key was used for another mail.
 */
export function fingerprintOf(
  envelope: { from: string; to: readonly string[] },
  fields: readonly HeaderField[],
  body: Iterable<Buffer>,
  asked: Omit<OwnHeaders, 'idempotencyKey'> = {},
): string {
  const hash = createHash('sha256').update('smtp\n')
  hash.update(JSON.stringify([envelope.from, [...envelope.to].sort()]))
  for (const { name, value } of fields) {
    if (anew.has(name)) continue
    hash.update(`\n${name}:${value.replace(/;\s*boundary\s*=\s*("[^"]*"|[^\s;]+)/i, '')}`)
  }
  if (Object.keys(asked).length > 0) hash.update(`\n\n${JSON.stringify(asked, namesInOrder)}`)
  let open = Buffer.alloc(0)
  const take = (lines: Buffer) => {
    for (const run of withoutBoundaries(lines)) hash.update(run)
  }
  for (const chunk of body) {
    const bytes = open.length === 0 ? chunk : Buffer.concat([open, chunk])
    const last = bytes.lastIndexOf(lf) + 1
    take(bytes.subarray(0, last))
    open = Buffer.from(bytes.subarray(last))
  }
  take(open)
  return hash.digest('base64')
}

/** As the API compares JSON: the order of an object's names does not matter. */
const namesInOrder = (_: string, value: unknown) =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort()) : value

/** The lines without boundaries, as many together as possible, because there may be five million empty ones. */
function* withoutBoundaries(lines: Buffer): Generator<Buffer> {
  let named = lines.indexOf('boundary=')
  let kept = 0
  for (let from = 0; from < lines.length; ) {
    const next = lines.indexOf(lf, from)
    const end = next === -1 ? lines.length : next + 1
    const isNamed = named !== -1 && named < end
    if (isNamed || (lines[from] === dash && lines[from + 1] === dash)) {
      if (kept < from) yield lines.subarray(kept, from)
      kept = end
      if (isNamed) named = lines.indexOf('boundary=', end)
    }
    from = end
  }
  if (kept < lines.length) yield lines.subarray(kept)
}

const dash = 0x2d
const lf = 0x0a
