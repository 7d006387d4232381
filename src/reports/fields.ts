/** A block of `Name: value` lines, names in lower case; the first of each name counts. */
export type ReportFields = ReadonlyMap<string, string>

const maxBlocks = 200
const maxFields = 100
const maxValueChars = 2_000

/**
 * Splits a report's body into its blocks (RFC 3464 §2.1: separated by empty lines), unfolded. Lines
 * that are no field are skipped, as some programs put text between them. Others leave out the empty
 * lines, so a second recipient begins a block too.
 */
export function fieldBlocks(body: string): ReportFields[] {
  const blocks: ReportFields[] = []
  for (const paragraph of body.split(/\n[ \t]*\n/, maxBlocks)) {
    let fields = new Map<string, string>()
    for (const line of unfolded(paragraph)) {
      const match = /^[ \t]?([A-Za-z][A-Za-z0-9-]{0,60})[ \t]*:(.*)$/s.exec(line)
      const name = match?.[1]?.toLowerCase()
      if (name === undefined) continue
      if (fields.has(name) && opensRecipient.has(name) && blocks.length < maxBlocks) {
        blocks.push(fields)
        fields = new Map()
      }
      if (fields.has(name) || fields.size === maxFields) continue
      fields.set(name, (match?.[2] ?? '').trim().slice(0, maxValueChars))
    }
    if (fields.size > 0) blocks.push(fields)
  }
  return blocks
}

// RFC 3464 §2.3: each of them occurs once in a recipient's block, and one of them begins it.
const opensRecipient = new Set(['original-recipient', 'final-recipient', 'action'])

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

const address = /(?:"(?:[^"\\\n]|\\.){1,62}"|[^\s<>()"',;:@[\]]{1,64})@([^\s<>()"',;:@[\]]{1,253})/

/** `rfc822; a@b` → `a@b` (RFC 3464 §2.1.2); '' if there is no address. */
export function addressIn(value: string | undefined): string {
  const found = address.exec((value ?? '').slice(0, 1_000))
  if (found === null) return ''
  const given = found[1] ?? ''
  const domain = domainIn(given)
  return domain === '' ? '' : `${found[0].slice(0, -given.length)}${domain}`
}

/** All addresses in a text, each once, in the text's order. */
export function addressesIn(value: string, most: number): string[] {
  const found = new Set<string>()
  for (const [text] of value.slice(0, maxAddressChars).matchAll(everyAddress)) {
    const one = addressIn(text)
    if (one !== '') found.add(one)
    if (found.size === most) break
  }
  return [...found]
}

const maxAddressChars = 20_000
const everyAddress = new RegExp(address, 'g')

/**
 * A domain without characters that a sentence in any language appends to it: `example.com。`,
 * `example.com様`.
 */
function domainIn(text: string): string {
  const name = /^[\p{L}\p{M}\p{N}._-]+/u.exec(text)?.[0] ?? ''
  // A top-level domain in Latin letters ends where another script begins.
  const latin = /^(?:.*\.)?[a-z][a-z0-9-]*(?=[^\p{Script=Latin}\p{M}\p{N}.-])/iu.exec(name)?.[0]
  return (latin?.includes('.') ? latin : name).replace(/[.-]+$/, '')
}

/** `smtp; 550 …` or `dns; mx.example.com (192.0.2.1)` without the part before the semicolon. */
export const afterType = (value: string | undefined) =>
  (value ?? '').replace(/^[A-Za-z0-9-]{1,30}[ \t]*;[ \t]*/, '').trim()
