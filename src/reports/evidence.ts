import { isIP } from 'node:net'
import { excessOf, headerOf } from '../dkim/index.js'
import { nodeLookup, type Resolver } from '../dns/index.js'
import { type FeedbackLoop, isDomainOf, isSenderOf, loopAt } from './feedback-loops.js'
import { signatureOf } from './signature.js'

/** Whether a complaint comes from a feedback loop. An ARF is a form that anybody can fill in. */
export type Evidence =
  /** In words: the loop, and what proves it. */
  | { kind: 'proved'; by: string }
  | { kind: 'unproved'; why: string }
  /** The DNS did not answer: try again later. */
  | { kind: 'unknown'; cause: string }

/** What is known of the SMTP session that brought a report. */
export interface ReportEnvelope {
  remoteAddress: string
  /** Empty for the null sender. */
  mailFrom: string
  helo: string
}

interface Given {
  loops: readonly FeedbackLoop[]
  raw: Buffer
  envelope: ReportEnvelope
  resolver: Resolver
}

/**
 * Looks for proof that a report comes from a known feedback loop: its From must be the loop's, and so
 * must the domain of a valid DKIM signature, or of an envelope sender that passes SPF. Only names
 * below the domains of known loops are looked up, so that nobody waits for a stranger's name server.
 */
export async function evidenceOf(given: Given): Promise<Evidence> {
  const { loops, raw, envelope } = given
  const { remoteAddress } = envelope
  const listed = isIP(remoteAddress) === 0 ? undefined : loopAt(loops, remoteAddress)
  if (listed !== undefined) return proved(listed, `the list names ${remoteAddress}`)
  const header = headerOf(raw)
  const from = authorIn(header)
  if (from === undefined) return unproved('it has no From with a single address')
  const loop = loops.find((one) => isSenderOf(one, from))
  if (loop === undefined) return unproved(`${from} is not a known feedback loop`)
  const excess = excessOf(header)
  if (excess !== undefined) return unproved(excess)
  const signed = await bySignature(loop, given)
  if (signed.kind === 'proved') return signed
  const sent = await bySender(loop, given)
  if (sent?.kind === 'proved') return sent
  return signed.kind === 'unknown' ? signed : (sent ?? signed)
}

/** RFC 5322 §3.6.2. Different readers may read two such fields, or a second address, differently. */
export function authorIn(header: string): string | undefined {
  const unfolded = header.replace(/\r?\n[ \t]+/g, ' ')
  const [line, ...others] = unfolded.match(/^from[ \t]*:.*$/gim) ?? []
  if (line === undefined || others.length > 0) return undefined
  const value = line.slice(line.indexOf(':') + 1).trim()
  const address = /^[^<>@]*<([^\s<>@]+@[^\s<>@]+)>$|^([^\s<>@,;:]+@[^\s<>@,;:]+)$/.exec(value)
  return (address?.[1] ?? address?.[2])?.toLowerCase()
}

async function bySignature(loop: FeedbackLoop, { raw, resolver }: Given): Promise<Evidence> {
  const found = await signatureOf(raw, resolver, (domain) => isDomainOf(loop, domain))
  if (found.kind === 'signed') return proved(loop, `DKIM of ${found.domain}`)
  return found.kind === 'unknown' ? found : unproved(`${loop.name} has not signed it`)
}

/** RFC 7208 §2.4: SPF of the sender's domain, or of the client's name for the null sender. */
async function bySender(
  loop: FeedbackLoop,
  { envelope: { remoteAddress, mailFrom, helo }, resolver }: Given,
): Promise<Evidence | undefined> {
  const domain = (
    mailFrom === '' ? helo : mailFrom.slice(mailFrom.lastIndexOf('@') + 1)
  ).toLowerCase()
  // SPF is about servers: at a domain with users' mailboxes it passes for every user's mail.
  if (loop.senders.length > 0 || !isDomainOf(loop, domain)) return undefined
  const { spf } = await import('mailauth/lib/spf/index.js')
  const { status } = await spf({
    sender: mailFrom,
    ip: remoteAddress,
    helo,
    mta: 'posthorn',
    resolver: nodeLookup(resolver),
  })
  if (status.result === 'pass') return proved(loop, `SPF of ${domain}`)
  if (status.result === 'temperror') return { kind: 'unknown', cause: `SPF: ${status.comment}` }
  return undefined
}

const proved = ({ name }: FeedbackLoop, by: string): Evidence => ({
  kind: 'proved',
  by: `${name}: ${by}`,
})

const unproved = (why: string): Evidence => ({ kind: 'unproved', why })
