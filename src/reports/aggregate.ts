import { excessOf, headerOf } from '../dkim/index.js'
import type { Resolver } from '../dns/index.js'
import { messageOf } from '../errors/index.js'
import { unpackAggregates } from './aggregate-file.js'
import { type DmarcReport, readDmarcReport } from './dmarc-report.js'
import { authorIn } from './evidence.js'
import { signatureOf } from './signature.js'
import { readTlsReport, type TlsReport } from './tls-report.js'

/** A mail to an address of ours for aggregate reports, as it was read. */
export type Aggregate =
  | { kind: 'dmarc'; reports: readonly DmarcReport[]; signer: ArcSigner }
  | { kind: 'tls'; reports: readonly TlsReport[]; signer: ArcSigner }
  | { kind: 'unreadable'; why: string }

/** Its signer: the domain of its From, or one above or below it; empty if unsigned. */
export type ArcSigner = { domain: string } | { unknown: string }

/** Reads a mail that brings aggregate reports. Never rejects, whatever its bytes are. */
export async function readAggregate(raw: Buffer, resolver: Resolver): Promise<Aggregate> {
  try {
    const files = unpackAggregates(raw)
    const texts = (form: 'xml' | 'json') =>
      files.filter((file) => file.form === form).map(({ text }) => text)
    const dmarc = texts('xml').map(readDmarcReport)
    const tls = dmarc.length > 0 ? [] : texts('json').map(readTlsReport)
    if (dmarc.length + tls.length === 0) return { kind: 'unreadable', why: 'it has no report' }
    const signer = await signerOf(raw, resolver)
    return dmarc.length > 0
      ? { kind: 'dmarc', reports: dmarc, signer }
      : { kind: 'tls', reports: tls, signer }
  } catch (error) {
    return { kind: 'unreadable', why: messageOf(error).slice(0, 300) }
  }
}

/**
 * Only keys of the From's own domain are looked up, so that a stranger causes one look-up and no more.
 */
async function signerOf(raw: Buffer, resolver: Resolver): Promise<ArcSigner> {
  const header = headerOf(raw)
  const author = authorIn(header)
  if (author === undefined || excessOf(header) !== undefined) return { domain: '' }
  const from = author.slice(author.lastIndexOf('@') + 1)
  const found = await signatureOf(raw, resolver, (domain) => isRelated(domain, from))
  if (found.kind === 'unknown') return { unknown: found.cause }
  return { domain: found.kind === 'signed' ? found.domain : '' }
}

/** RFC 9989 §4.4 in the relaxed form, without a list of public suffixes: at least two labels. */
const isRelated = (a: string, b: string) =>
  a.includes('.') && b.includes('.') && (a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`))
