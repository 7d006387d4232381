import { createHash } from 'node:crypto'
import type { HeaderField } from '../mime/index.js'

// What programs write anew when they send the same message again.
const anew = new Set(['date', 'message-id', 'received', 'x-mailer', 'user-agent'])

/**
 * Equal for messages that say the same to the same people, however often a program writes them: ids, dates
 * and the boundaries between parts are left out. It shows that a key was used for another mail; no more.
 */
export function fingerprintOf(
  envelope: { from: string; to: readonly string[] },
  fields: readonly HeaderField[],
  body: Iterable<Buffer>,
): string {
  const hash = createHash('sha256').update('smtp\n')
  hash.update(JSON.stringify([envelope.from, [...envelope.to].sort()]))
  for (const { name, value } of fields) {
    if (anew.has(name)) continue
    hash.update(`\n${name}:${value.replace(/;\s*boundary\s*=\s*("[^"]*"|[^\s;]+)/i, '')}`)
  }
  let open = Buffer.alloc(0)
  const take = (line: Buffer) => {
    if (line[0] === dash && line[1] === dash) return
    if (line.includes('boundary=')) return
    hash.update(line)
  }
  for (const chunk of body) {
    const bytes = open.length === 0 ? chunk : Buffer.concat([open, chunk])
    let from = 0
    for (let end = bytes.indexOf(lf); end !== -1; end = bytes.indexOf(lf, from)) {
      take(bytes.subarray(from, end + 1))
      from = end + 1
    }
    open = Buffer.from(bytes.subarray(from))
  }
  take(open)
  return hash.digest('base64')
}

const dash = 0x2d
const lf = 0x0a
