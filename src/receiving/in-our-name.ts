import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { type RelaxedField, relaxHeader } from '../dkim/index.js'
import { messageOf } from '../errors/index.js'
import type { ReadMail } from './read-mail.js'

// Nobody has so many senders, and comments within comments take a look each.
const mostFromBytes = 4_000

/**
 * Why a mail may not be forwarded; undefined: it may. What we sign and give our return path passes DMARC for our names.
 * So a mail with a From in one of them must prove that From itself, or a stranger's forgery would leave as proved.
 * `header`: as it came, ended by CRLF; `ours`: the names that sign it or have its return path.
 */
export async function whyNotInOurName(
  header: Buffer,
  { verdicts }: Pick<ReadMail, 'verdicts'>,
  ours: readonly string[],
): Promise<string | undefined> {
  const froms = fromsOf(header)
  if (typeof froms === 'string') return froms
  const [from] = froms
  if (froms.length !== 1 || from === undefined) {
    return `It has ${froms.length === 0 ? 'no' : froms.length} From fields, and a mail has exactly one`
  }
  const domains = from.length > mostFromBytes ? [] : domainsIn(from)
  if (domains.length === 0 || domains.includes('')) {
    return 'Its From has no address that everybody reads in the same way'
  }
  const align = await alignment()
  const own = domains.filter((domain) => ours.some((name) => align(domain, name)))
  if (own.length === 0) return undefined
  const { dmarc, spf, dkim } = verdicts
  const proofs = [spf, ...dkim].flatMap(({ result, domain }) => (result === 'pass' ? [domain] : []))
  // A domain without a record has no policy; its From can be proved all the same.
  // DMARC may have read another domain out of the same From.
  const isProved =
    (dmarc.result === 'pass' && own.every((domain) => align(domain, dmarc.domain))) ||
    (dmarc.result === 'none' && proofs.some((name) => own.every((domain) => align(domain, name))))
  if (isProved && domains.length === 1) return undefined
  return `Its From is at ${own[0]}, and neither SPF nor DKIM proves that: sent on, it would leave as a mail of that domain. Have whoever sends it sign it`
}

/** The From fields, octets as Latin-1 characters; or why the header cannot be signed. */
function fromsOf(header: Buffer): string[] | string {
  let fields: RelaxedField[]
  try {
    fields = relaxHeader(header)
  } catch (error) {
    return `It cannot be signed: ${messageOf(error)}`
  }
  return fields.flatMap(({ name, line }) => (name === 'from' ? [line.slice('from:'.length)] : []))
}

/**
 * Every domain after an @ that a reader may take for the sender's, '' for one that is no name; those in a quoted name
 * do not count. RFC 5322 §3.4.1: comments and spaces may stand around the @ and between the labels, so the field is read
 * with its comments, which some show, and without them. Full-width letters and the like are those that they look like.
 */
function domainsIn(from: string): string[] {
  const text = Buffer.from(from, 'latin1').toString('utf8')
  const found = [text, withoutComments(text)].flatMap((reading) => {
    const bare = reading.replace(/"(?:[^"\\]|\\.)*"/g, '').replace(/ ?([@.]) ?/g, '$1')
    return [...bare.matchAll(/@([^\s@<>()[\]:;,"]{1,255})/g)]
  })
  return [...new Set(found.map(([, name = '']) => asciiName(name.replace(/\.+$/, ''))))]
}

/** As a URL's host, which would end at these characters. */
const asciiName = (name: string): string => (/[/?#\\]/.test(name) ? '' : domainToASCII(name))

/** Without what is in parentheses, the innermost first. */
function withoutComments(text: string): string {
  const shorter = text.replace(/ ?\([^()]*\) ?/g, ' ')
  return shorter === text ? text : withoutComments(shorter)
}

interface Tools {
  getAlignment(from: string, domains: string[], strict: boolean): unknown
}

/** Whether two names belong to one organisation (RFC 7489 §3.2), by the same list of public suffixes as the checks. */
async function alignment() {
  // @ts-expect-error mailauth has no types of its tools.
  const { getAlignment }: Tools = await import('mailauth/lib/tools.js')
  return (from: string, name: string): boolean =>
    name !== '' && isIP(name) === 0 && Boolean(getAlignment(from, [name], false))
}
