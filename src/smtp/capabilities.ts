import type { RawReply } from './reply.js'

/** What a server offers in its reply to EHLO; after HELO, nothing. */
export interface Capabilities {
  /** What the server calls itself; undefined where that is not a name. */
  name?: string
  pipelining: boolean
  eightBitMime: boolean
  smtpUtf8: boolean
  dsn: boolean
  startTls: boolean
  /** The SIZE parameter is understood. */
  sizeOffered: boolean
  /** Largest message in bytes; absent when the server names no limit. */
  size?: number
  /** SASL mechanisms, upper case. */
  auth: readonly string[]
}

export const noCapabilities: Capabilities = {
  pipelining: false,
  eightBitMime: false,
  smtpUtf8: false,
  dsn: false,
  startTls: false,
  sizeOffered: false,
  auth: [],
}

/** Reads the reply to EHLO. Its first line is a greeting; unknown keywords are ignored. */
export function parseCapabilities(reply: RawReply): Capabilities {
  const found: Capabilities = { ...noCapabilities }
  const [name] = /^[\w.:[\]-]{1,255}(?=\s|$)/.exec(reply.lines[0] ?? '') ?? []
  if (name !== undefined) found.name = name
  for (const line of reply.lines.slice(1)) {
    // Some servers write `AUTH=PLAIN`, from before RFC 4954.
    const [keyword = '', ...parameters] = line
      .trim()
      .toUpperCase()
      .split(/[\s=]+/)
    if (keyword === 'PIPELINING') found.pipelining = true
    else if (keyword === '8BITMIME') found.eightBitMime = true
    else if (keyword === 'SMTPUTF8') found.smtpUtf8 = true
    else if (keyword === 'DSN') found.dsn = true
    else if (keyword === 'STARTTLS') found.startTls = true
    else if (keyword === 'AUTH') found.auth = [...new Set([...found.auth, ...parameters])]
    else if (keyword === 'SIZE') {
      found.sizeOffered = true
      // RFC 1870 §4: no number, or zero, means no fixed limit.
      const size = /^\d{1,15}$/.test(parameters[0] ?? '') ? Number(parameters[0]) : 0
      if (size > 0) found.size = size
    }
  }
  return found
}
