import { type AcmeExchange, retryAfterMs } from './transport.js'

/** A refusal by a directory (RFC 8555 §6.7). Its words are a stranger's: one line, at most 400 characters. */
export class AcmeProblem extends Error {
  constructor(
    /** Without `urn:ietf:params:acme:error:`; empty when the answer named none. */
    readonly type: string,
    detail: string,
    readonly status: number,
    readonly retryAfterMs: number | undefined,
  ) {
    super(detail)
  }
}

const prefix = 'urn:ietf:params:acme:error:'

/** The problem of an answer of 400 or more. */
export function problemOf({ status, headers, text }: AcmeExchange, now: number): AcmeProblem {
  const { type, detail } = problemFields(parsed(text))
  const words = detail === '' ? `HTTP ${status}` : detail
  return new AcmeProblem(type, words, status, retryAfterMs(headers['retry-after'], now))
}

/** The fields of a problem document, or of the `error` of a challenge or an order. */
export function problemFields(value: unknown): { type: string; detail: string } {
  const { type, detail } =
    ((typeof value === 'object' ? value : null) as Record<string, unknown>) ?? {}
  return {
    type: typeof type === 'string' && type.startsWith(prefix) ? type.slice(prefix.length, 100) : '',
    detail: oneLine(typeof detail === 'string' ? detail : ''),
  }
}

// Control characters could move a terminal's cursor, or turn one line into two.
const oneLine = (text: string) =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 400)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Whether the directory, or our account there, can serve nobody now, and not only this name. Errors that are no
 * problems come from the network.
 */
export function isOfDirectory(error: unknown): boolean {
  if (!(error instanceof AcmeProblem)) return true
  // The answer to HEAD (a new nonce) has no body, and therefore no type.
  const isUntypedLimit = error.status === 429 && error.type === ''
  return error.status >= 500 || isUntypedLimit || ofAccount.includes(error.type)
}

const ofAccount: readonly string[] = [
  'accountDoesNotExist',
  'badNonce',
  'badPublicKey',
  'badSignatureAlgorithm',
  'externalAccountRequired',
  'invalidContact',
  'serverInternal',
  'unsupportedContact',
  'userActionRequired',
]

/** What an operator can do about it. */
export function fixFor(name: string, error: unknown): string {
  const fix = error instanceof AcmeProblem ? fixes[error.type] : unreached
  return (fix ?? 'it is tried again by itself').replaceAll('NAME', name)
}

const unreached = 'let this machine reach the URL of tls.directory; it is tried again by itself'

// RFC 8555 §6.7.
const fixes: Readonly<Record<string, string>> = {
  caa: 'let the CAA records of NAME, or of the domain above it, allow the authority',
  connection: 'let everybody reach port 80 of NAME, and let it lead to this machine',
  dns: 'let the DNS servers of NAME answer everybody',
  dnsHook: 'run tls.dns_hook by hand as the user of the service; it is tried again by itself',
  dnsUpdate:
    "mend what 'posthorn doctor' says of tls.dns_server and its key; it is tried again by itself",
  externalAccountRequired:
    'set tls.eab_key_id and tls.eab_key_file to what the directory has given you, or choose another tls.directory',
  invalidContact: 'set tls.email to an address that takes mail, or to nothing',
  rateLimited: 'wait: it is tried again by itself',
  rejectedIdentifier: 'give NAME a certificate from files: the authority gives none for it',
  unauthorized:
    'let port 80 of NAME lead to this machine: a proxy in front of it has to hand on /.well-known/acme-challenge/',
  unsupportedContact: 'set tls.email to an address that takes mail, or to nothing',
  userActionRequired: 'read what the authority asks for, such as new terms',
}
