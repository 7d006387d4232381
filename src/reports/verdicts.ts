import { Readable } from 'node:stream'
import { nextTurn } from '../bounded/index.js'
import { excessOf, headerOf } from '../dkim/index.js'
import { nodeLookup, type Resolver } from '../dns/index.js'
import type { Log } from '../log/index.js'

/**
 * What a receiver would write into Authentication-Results (RFC 8601); stored as JSON in a row's
 * `verdicts`.
 */
export interface Verdicts {
  /** One for each signature; a mail without signatures has one with result `none`. */
  dkim: DkimVerdict[]
  spf: SpfVerdict
  dmarc: DmarcVerdict
  /** Only if it was requested. */
  arc?: ArcVerdict
}

/** The result of the chain of seals of its forwarders. */
export interface ArcVerdict {
  result: string
  /** How many seals it has. */
  instances: number
  info: string
}

/** The result of one signature. */
export interface DkimVerdict {
  result: string
  domain: string
  selector: string
  algorithm: string
  info: string
}

/** Whether the address may send for the envelope's sender. */
export interface SpfVerdict {
  result: string
  domain: string
  info: string
}

/** Whether either of them proves the From header. */
export interface DmarcVerdict {
  result: string
  /** The domain of the From header. */
  domain: string
  /** The policy of the record that applies: none, quarantine or reject. */
  policy: string
  info: string
}

/** What is checked of a mail, beside its bytes. */
export interface CheckedMail {
  id: number
  mail_from: string
  remote_address: string
  helo: string
}

const sliceBytes = 64 * 1024

/** The checks never reject: a mail that cannot be checked gets verdicts that say so. */
export function makeChecks(
  resolver: Resolver,
  log: Log,
): (mail: CheckedMail, raw: Buffer) => Promise<Verdicts> {
  return async (mail, raw) => {
    try {
      const { verdicts } = await authenticateMail(resolver, raw, {
        remoteAddress: mail.remote_address,
        helo: mail.helo,
        mailFrom: mail.mail_from,
        mta: 'sandbox.posthorn.test',
      })
      return verdicts
    } catch (error) {
      log.warn({ messageId: mail.id, error }, 'Sandbox could not check a mail')
      return unchecked('temperror', 'the check itself failed')
    }
  }
}

/** A mail's verdicts, and what a seal over it says about them (RFC 8617). */
export interface Authenticated {
  verdicts: Verdicts
  /** Undefined if no chain was checked, or if the existing one may not be continued. */
  arc?: {
    instance: number
    cv: 'none' | 'pass'
    /** The text after `i=…;` of ARC-Authentication-Results, folded. */
    results: string
  }
}

/**
 * Checks DKIM, SPF and DMARC of a received mail, and with `arc` its chain of seals. Rejects when the checks
 * themselves fail.
 */
export async function authenticateMail(
  resolver: Resolver,
  raw: Buffer,
  from: { remoteAddress: string; helo: string; mailFrom: string; mta: string; arc?: boolean },
): Promise<Authenticated> {
  const excess = excessOf(headerOf(raw))
  if (excess !== undefined) return { verdicts: unchecked('permerror', excess) }
  // Loaded with the first mail, as it would add a third of a second to the appliance's start.
  const { authenticate } = await import('mailauth')
  const found = await authenticate(Readable.from(inSlices(raw)), {
    ip: from.remoteAddress,
    helo: from.helo,
    sender: from.mailFrom,
    mta: from.mta,
    resolver: nodeLookup(resolver),
    disableArc: from.arc !== true,
    disableBimi: true,
  })
  const verdicts = fromMailauth(found)
  if (from.arc !== true || !found.arc) return { verdicts }
  const { i, status, authResults } = found.arc as SealedChain
  const withArc = {
    ...verdicts,
    arc: { result: status.result, instances: i ?? 0, info: short(status.comment) },
  }
  if (status.result !== 'none' && status.result !== 'pass') return { verdicts: withArc }
  const { result: cv } = status
  const results = onFoldedLines(authResults)
  return { verdicts: withArc, arc: { instance: (i ?? 0) + 1, cv, results } }
}

/** The fields of a chain that mailauth's types lack. */
interface SealedChain {
  i?: number
  status: { result: string; comment?: string }
  authResults?: string
}

/** Keeps text that the mail's writer chose from ending a field. */
const onFoldedLines = (text = ''): string =>
  text
    .split(/\r?\n/)
    .map((line) => line.replace(/[^\x20-\x7e]+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\r\n ')

/** Reads stored verdicts; undefined for a message that was not checked. */
export function parseVerdicts(json: string | null): Verdicts | undefined {
  return json === null ? undefined : (JSON.parse(json) as Verdicts)
}

type MailauthResult = Awaited<ReturnType<typeof import('mailauth').authenticate>>

/** mailauth's results in our own form, cut in length. */
function fromMailauth({ dkim, spf, dmarc }: MailauthResult): Verdicts {
  return {
    dkim: dkim.results.map((signature) => ({
      result: dkimResult(signature.status),
      domain: short(signature.signingDomain),
      selector: short(signature.selector),
      // mailauth's types call it `algorithm`, its results `algo`.
      algorithm: short((signature as { algo?: string }).algo),
      info: short(signature.info),
    })),
    spf: spf
      ? { result: spf.status.result, domain: short(spf.domain), info: short(spf.info) }
      : { result: 'none', domain: '', info: '' },
    dmarc: dmarc
      ? {
          result: dmarc.status.result,
          domain: short(dmarc.domain),
          policy: short(dmarc.policy),
          info: short(dmarc.info),
        }
      : { result: 'none', domain: '', policy: '', info: 'no From header' },
  }
}

// RFC 8601 §2.7.1: a body that is not the signed one fails; mailauth calls that neutral.
function dkimResult(status: { result: string; comment?: string }): string {
  return status.comment === 'body hash did not verify' ? 'fail' : status.result
}

/** Verdicts that say why nothing was checked. */
function unchecked(result: string, info: string): Verdicts {
  return {
    dkim: [{ result, domain: '', selector: '', algorithm: '', info }],
    spf: { result, domain: '', info },
    dmarc: { result, domain: '', policy: '', info },
  }
}

/** Cut, as the text comes from the mail, which may be hostile. */
function short(text: string | undefined): string {
  return (text ?? '').slice(0, 500)
}

/** Hashing 25 MiB takes a while, so the thread takes mail between slices. */
async function* inSlices(raw: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < raw.length; at += sliceBytes) {
    yield raw.subarray(at, at + sliceBytes)
    await nextTurn()
  }
}
