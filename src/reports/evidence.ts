import { isIP } from 'node:net'
import { excessOf, headerOf } from '../dkim/index.js'
import { nodeLookup, type Resolver } from '../dns/index.js'
import { type FeedbackLoop, isDomainOf, isSenderOf, loopAt } from './feedback-loops.js'
import { signatureOf } from './signature.js'

/** Whether a complaint comes from a feedback loop. An ARF is a form that anybody can fill in. */
export type Evidence =
  /** In words: which loop, and by what it is known. */
  | { kind: 'proved'; by: string }
  | { kind: 'unproved'; why: string }
  /** The DNS did not answer: to be asked again. */
  | { kind: 'unknown'; cause: string }

/** What is known of the SMTP session that a report came by. */
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
 * Looks for proof that a report is a known feedback loop's: its From is the loop's, and so is the
 * domain of a DKIM signature that verifies, or of an envelope sender that passes SPF. Only names that
 * lie below the domains of known loops are asked for, so that no stranger's name server is waited for.
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

/** RFC 5322 §3.6.2. Two of them, or a second address, may be read one way here and another way there. */
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

/** RFC 7208 §2.4: of the sender's domain, or the client's name where the sender is null. */
async function bySender(
  loop: FeedbackLoop,
  { envelope: { remoteAddress, mailFrom, helo }, resolver }: Given,
): Promise<Evidence | undefined> {
  const domain = (
    mailFrom === '' ? helo : mailFrom.slice(mailFrom.lastIndexOf('@') + 1)
  ).toLowerCase()
  // SPF speaks of servers: where users have mailboxes too, it is everybody's that sends by them.
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
