import { parseMailbox } from '../mime/index.js'

/** Where a domain wants its reports. */
export type Destination = { kind: 'mail'; uri: string; address: string } | UploadTo
/** A report that is posted to a web server. */
export interface UploadTo {
  kind: 'upload'
  uri: string
}

// How many receivers a report has: a domain could name any number of other people's addresses.
const maxDestinations = 5

/**
 * Reads the TXT records at `_smtp._tls.<domain>` (RFC 8460 §3). Empty: the domain asks for no report, or not in a
 * valid way.
 */
export function readAskedFor(records: readonly string[]): Destination[] {
  const ours = records.filter((record) => /^v=TLSRPTv1[ \t]*;/.test(record))
  const [record, ...others] = ours
  // §3: of several records none counts.
  if (record === undefined || others.length > 0) return []
  const rua = record
    .split(';')
    // The addresses lose their blanks below: to match blanks at the end here would cost the square of their number.
    .map((field) => /^[ \t]*rua[ \t]*=(.*)$/.exec(field)?.[1])
    .find((value) => value !== undefined)
  const uris = new Set((rua ?? '').split(',').map((uri) => uri.trim()))
  return [...uris].flatMap((uri) => destinationOf(uri) ?? []).slice(0, maxDestinations)
}

/** One receiver; undefined for an invalid one. */
function destinationOf(uri: string): Destination | undefined {
  // A parameter of a mailto would let them set a header.
  const [, local] = /^mailto:([^?]{3,320})$/i.exec(uri) ?? []
  if (local !== undefined) {
    const address = decoded(local)
    const mailbox = parseMailbox(address)
    return mailbox?.address === address ? { kind: 'mail', uri, address } : undefined
  }
  if (!/^https:/i.test(uri) || uri.length > 2_000 || !URL.canParse(uri)) return undefined
  const url = new URL(uri)
  return url.username === '' && url.password === '' ? { kind: 'upload', uri } : undefined
}

/** RFC 8460 §3: a comma, an exclamation mark and a semicolon of an address are written as %2C, %21, %3B. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
