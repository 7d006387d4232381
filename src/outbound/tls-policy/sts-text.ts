/** The two texts of MTA-STS (RFC 8461 §3), read strictly: whoever writes them is a stranger. */
export interface StsText {
  mode: StsMode
  /** Lower case: `mx1.example.com`, or `*.example.com`, which stands for one more label. */
  mx: readonly string[]
  maxAgeS: number
}

/** How a policy is meant (RFC 8461 §5). */
export type StsMode = 'enforce' | 'testing' | 'none'

// RFC 8461 §3.2: about a year.
const maxMaxAgeS = 31_557_600
// RFC 1035 §3.1 bounds names at 255; no line that means something is longer than this.
const maxLine = 1_000
// The bound is ours: a stranger writes the file.
const maxPatterns = 1_000
// A host name, perhaps with a wildcard for its first label.
const pattern =
  /^(?=.{1,253}$)(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * The id of the policy that the TXT records at `_mta-sts.<domain>` announce. Undefined without
 * exactly one good record (RFC 8461 §3.1).
 */
export function readStsId(records: readonly string[]): string | undefined {
  const ours = records.filter((record) => /^v=STSv1[ \t]*(;|$)/.test(record))
  const [record, ...others] = ours
  if (record === undefined || others.length > 0) return undefined
  const ids = record
    .split(';')
    .map((field) => /^[ \t]*id=([a-zA-Z0-9]{1,32})[ \t]*$/.exec(field)?.[1])
    .filter((id) => id !== undefined)
  return ids.length === 1 ? ids[0] : undefined
}

/** Reads a policy, or says what is wrong with it. Unknown fields are ignored (§3.2). */
export function parseStsPolicy(body: string): StsText | { wrong: string } {
  const fields = new Map<string, string>()
  const mx: string[] = []
  for (const line of body.split(/\r?\n/)) {
    if (line.trim() === '') continue
    if (line.length > maxLine) return { wrong: `a line of ${line.length} characters` }
    const match = /^([a-zA-Z0-9][\w.-]{0,31}):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*?)[ \t]*$/.exec(line)
    const [, name, value] = match ?? []
    if (name === undefined || value === undefined) {
      return { wrong: `a line that is not a field: ${JSON.stringify(line.slice(0, 60))}` }
    }
    if (name === 'mx') mx.push(value.toLowerCase().replace(/\.$/, ''))
    // §3.2: of a field that may occur once, the first counts.
    else if (!fields.has(name)) fields.set(name, value)
  }
  if (fields.get('version') !== 'STSv1') return { wrong: 'no version: STSv1' }
  const mode = modes.find((known) => known === fields.get('mode'))
  if (mode === undefined) return { wrong: 'no mode that is enforce, testing or none' }
  const age = fields.get('max_age') ?? ''
  if (!/^\d{1,10}$/.test(age) || Number(age) > maxMaxAgeS) {
    return { wrong: `no max_age from 0 to ${maxMaxAgeS}` }
  }
  const bad = mx.find((name) => !pattern.test(name))
  if (bad !== undefined) return { wrong: `mx: ${JSON.stringify(bad.slice(0, 60))}` }
  if (mx.length > maxPatterns) return { wrong: `${mx.length} lines of mx` }
  if (mx.length === 0 && mode !== 'none') return { wrong: 'no mx' }
  return { mode, mx, maxAgeS: Number(age) }
}

const modes: readonly StsMode[] = ['enforce', 'testing', 'none']

/** RFC 8461 §4.1: a wildcard stands for exactly one label, the left-most. */
export function coversHost(patterns: readonly string[], host: string): boolean {
  const dot = host.indexOf('.')
  const oneLabelUp = dot > 0 ? `*${host.slice(dot)}` : undefined
  return patterns.some((name) => name === host || name === oneLabelUp)
}
