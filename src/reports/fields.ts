/** A block of `Name: value` lines, names in lower case; the first of each name counts. */
export type Fields = ReadonlyMap<string, string>

const maxBlocks = 200
const maxFields = 100
const maxValueChars = 2_000

/**
 * Splits a report's body into its blocks (RFC 3464 §2.1: separated by empty lines), unfolded. Lines
 * that are no field are passed over: some programs put text between them.
 */
export function fieldBlocks(body: string): Fields[] {
  const blocks: Fields[] = []
  for (const paragraph of body.split(/\n[ \t]*\n/, maxBlocks)) {
    const fields = new Map<string, string>()
    for (const line of unfolded(paragraph)) {
      const match = /^[ \t]?([A-Za-z][A-Za-z0-9-]{0,60})[ \t]*:(.*)$/s.exec(line)
      const name = match?.[1]?.toLowerCase()
      if (name === undefined || fields.has(name) || fields.size === maxFields) continue
      fields.set(name, (match?.[2] ?? '').trim().slice(0, maxValueChars))
    }
    if (fields.size > 0) blocks.push(fields)
  }
  return blocks
}

function unfolded(paragraph: string): string[] {
  const lines: string[] = []
  for (const line of paragraph.split('\n')) {
    const last = lines.length - 1
    if (/^[ \t]/.test(line) && last >= 0) {
      const before = lines[last] ?? ''
      if (before.length < maxValueChars) lines[last] = `${before} ${line.trim()}`
    } else lines.push(line)
  }
  return lines
}

/** `rfc822; a@b` → `a@b` (RFC 3464 §2.1.2); '' where there is no address. */
export function addressIn(value: string | undefined): string {
  const text = (value ?? '').slice(0, 1_000)
  const found = /[^\s<>()"',;:@[\]]{1,64}@[^\s<>()"',;:@[\]]{1,253}/.exec(text)?.[0]
  return (found ?? '').replace(/\.$/, '')
}

/** `smtp; 550 …` or `dns; mx.example.com (192.0.2.1)` without what stands before the semicolon. */
export const afterType = (value: string | undefined) =>
  (value ?? '').replace(/^[A-Za-z0-9-]{1,30}[ \t]*;[ \t]*/, '').trim()
