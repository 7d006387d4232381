import { domainToASCII, domainToUnicode } from 'node:url'

/** A recipient or a sender, as parsed. Two mailboxes are the same if their `address` is equal. */
export interface Mailbox {
  /** The display name; absent, never empty. */
  name?: string
  /** `local@domain`: the local part in its shortest form, the domain in lower-case A-labels. */
  address: string
  /** As written in the address: UTF-8 kept, quoted where RFC 5321 §4.1.2 needs quotes. */
  local: string
  domain: string
  /** The local part is not ASCII: only an MX that offers SMTPUTF8 can take it (RFC 6531). */
  utf8Local: boolean
  /** What RFC 5321 forbids in it, although its servers accept it; absent for all others. */
  warning?: string
}

/** Characters (code points) of a display name. */
export const maxNameLength = 200

// RFC 5321 §4.5.3.1: octets of a local part, and of a path without its angle brackets.
const maxLocalOctets = 64
const maxPathOctets = 254
const maxHostLength = 253
// Nothing longer can be valid: a name with every character escaped, then an address.
const maxInputLength = 1000

const unsafe = /[\p{Cc}\p{Cs}\u2028\u2029]/u
const plainText = /[^<@;>"]+/y
const quotedText = /"((?:[^"\\]|\\.)*)"/uy
const atom =
  /^[\w!#$%&'*+\-/=?^`{|}~\u0080-\u{10ffff}]+(?:\.[\w!#$%&'*+\-/=?^`{|}~\u0080-\u{10ffff}]+)*$/u
// Invisible or blank characters come from pasting, never from a postmaster; joiners are letters.
const invisible = /\p{Z}|(?![\u200c\u200d])\p{Cf}/u
// A host name has no underscores (RFC 952), but DNS has such names and mail goes there.
const hostName = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

// An atom and a host name in ASCII and lower case, which have only one spelling.
const usual =
  /^([\w!#$%&'*+\-/=?^`{|}~]+(?:\.[\w!#$%&'*+\-/=?^`{|}~]+)*)@((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)$/

// Dots anywhere: docomo and KDDI gave out such addresses for years, and both take them in quotes.
const dottedAtom = /^[\w!#$%&'*+\-/=?^`{|}~.]+$/
const dottedDomains = /^(?:docomo\.ne\.jp|(?:[a-z0-9-]+\.)?ezweb\.ne\.jp|au\.com)$/

/** Reads `a@b` or `Name <a@b>`; undefined if it is anything else. Linear in the input's length. */
export function parseMailbox(input: string): Mailbox | undefined {
  if (input.length > maxInputLength || unsafe.test(input)) return undefined
  const text = input.trim()
  if (!text.endsWith('>')) return parseAddress(text)
  const phrase = readPhrase(text)
  if (phrase === undefined || isLongName(phrase.name)) return undefined
  const mailbox = parseAddress(text.slice(phrase.end + 1, -1))
  return mailbox && phrase.name !== '' ? { name: phrase.name, ...mailbox } : mailbox
}

const isLongName = (name: string) => name.length > maxNameLength && [...name].length > maxNameLength

/** The words before the `<`, and its place. */
function readPhrase(text: string): { name: string; end: number } | undefined {
  let name = ''
  for (let i = 0; i < text.length; ) {
    const char = text.charAt(i)
    if (char === '<') return { name: name.trim().replace(/ +/g, ' '), end: i }
    // An '@' here is a second address, which must not vanish into a name.
    if (char === '@' || char === ';' || char === '>') return undefined
    if (char === '"') {
      quotedText.lastIndex = i
      const quoted = quotedText.exec(text)?.[1]
      if (quoted === undefined) return undefined
      name += unquote(quoted)
      i = quotedText.lastIndex
    } else {
      plainText.lastIndex = i
      const plain = plainText.exec(text)?.[0] ?? ''
      name += plain
      i += plain.length
    }
  }
  return undefined
}

function parseAddress(text: string): Mailbox | undefined {
  return parseUsual(text) ?? parseUnusual(text)
}

/** The form of nearly all addresses; undefined for others, valid or not. */
function parseUsual(text: string): Mailbox | undefined {
  if (text.length > maxPathOctets) return undefined
  const [, local = '', domain = ''] = usual.exec(text) ?? []
  if (local === '' || local.length > maxLocalOctets || domain.length > maxHostLength)
    return undefined
  if (domain.includes('xn--')) return undefined
  return { address: text, local, domain, utf8Local: false }
}

function parseUnusual(text: string): Mailbox | undefined {
  const at = text.lastIndexOf('@')
  const given = text.slice(0, Math.max(at, 0))
  const domain = canonicalDomain(text.slice(at + 1))
  if (domain === undefined) return undefined
  const odd = dottedDomains.test(domain) && !atom.test(given) && dottedAtom.test(given)
  const local = odd ? quote(given) : canonicalLocal(given)
  if (local === undefined) return undefined
  const octets = Buffer.byteLength(local)
  if (octets > maxLocalOctets || octets + 1 + domain.length > maxPathOctets) return undefined
  const mailbox = {
    address: `${local}@${domain}`,
    local,
    domain,
    utf8Local: octets !== local.length,
  }
  const warning = odd ? dotsWarning : domain.includes('_') ? underscoreWarning : undefined
  return warning === undefined ? mailbox : { ...mailbox, warning }
}

const dotsWarning =
  'RFC 5321 §4.1.2: a dot at an end of the local part, or two in a row; it is sent in quotes'
const underscoreWarning = 'RFC 5321 §2.3.5: an underscore in the domain name'

/** RFC 5321 §4.1.2: `"bob"` and `bob` are one mailbox, so quotes stay only where they must. */
export function canonicalLocal(text: string): string | undefined {
  if (invisible.test(text.replaceAll(' ', ''))) return undefined
  if (!text.startsWith('"')) return atom.test(text) ? text : undefined
  quotedText.lastIndex = 0
  const quoted = quotedText.exec(text)?.[1]
  // RFC 5321 §4.1.2: quoted-pairSMTP escapes ASCII only.
  if (quoted === undefined || quotedText.lastIndex !== text.length) return undefined
  if (/\\[^ -~]/u.test(quoted.replaceAll('\\\\', ''))) return undefined
  const plain = unquote(quoted)
  return atom.test(plain) ? plain : quote(plain)
}

/** The host name in lower-case A-labels (RFC 5890), or undefined. */
function canonicalDomain(text: string): string | undefined {
  // domainToASCII is the URL parser's: it reads %41, cuts at '/', and completes IPv4 numbers.
  if (!/^[a-zA-Z0-9._\-\u0080-\u{10ffff}]+$/u.test(text)) return undefined
  const name = /^(?!.*xn--)[a-z0-9._-]*$/.test(text) ? text : domainToASCII(text)
  return name.length <= maxHostLength && hostName.test(name) && hasSoundALabels(name)
    ? name
    : undefined
}

/**
 * Whether every A-label of a name in ASCII and lower case is valid (RFC 5890 §2.3.2.1). Node 20's
 * `domainToASCII` checks it; Node 24's checks only names that are not ASCII.
 */
export function hasSoundALabels(name: string): boolean {
  return name.split('.').every((label) => {
    const unicode = label.startsWith('xn--') ? domainToUnicode(label) : undefined
    return unicode === undefined || (unicode !== '' && unicode !== label)
  })
}

/** A quoted-string (RFC 5322 §3.2.4). */
export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

function unquote(text: string): string {
  return text.replace(/\\(.)/gu, '$1')
}

/**
 * The form in which addresses are compared: hardly any server distinguishes `Ann@` from `ann@`, nor does
 * anybody who searches.
 */
export const addressKey = (address: string) => address.toLowerCase()
