import { nodeLookup, type Resolver } from '../dns/index.js'

/** Which of the wanted domains has signed a mail. */
export type Signature =
  | { kind: 'signed'; domain: string }
  | { kind: 'none' }
  /** A key could not be looked up, so the signature may be valid. */
  | { kind: 'unknown'; cause: string }

// RFC 8301 §3.2.
const minKeyBits = 1_024

/**
 * Looks for a DKIM signature that proves a mail, by a domain that `isAsked` accepts (in lower case). Only keys
 * of such domains are looked up, so that a stranger's mail causes no other look-up.
 */
export async function signatureOf(
  raw: Buffer,
  resolver: Resolver,
  isAsked: (domain: string) => boolean,
): Promise<Signature> {
  const { dkimVerify } = await import('mailauth/lib/dkim/verify.js')
  const lookup = nodeLookup(resolver)
  const { results } = await dkimVerify(raw, {
    minBitLength: minKeyBits,
    resolver: async (name: string, type: string) => {
      const domain = name.toLowerCase().split('._domainkey.')[1] ?? ''
      if (isAsked(domain)) return await lookup(name, type)
      throw Object.assign(new Error('A domain that is not asked about'), { code: 'ENOTFOUND' })
    },
  })
  const asked = results.filter(({ signingDomain }) => isAsked((signingDomain ?? '').toLowerCase()))
  const good = asked.find((result) => result.status.result === 'pass' && coversAll(result))
  if (good !== undefined) return { kind: 'signed', domain: good.signingDomain.toLowerCase() }
  const failed = asked.find(({ status }) => status.result === 'temperror')
  if (failed !== undefined) return { kind: 'unknown', cause: `DKIM: ${failed.status.comment}` }
  return { kind: 'none' }
}

/** The fields of mailauth's results that its types lack. */
interface Coverage {
  signingHeaders?: { keys?: string }
  canonBodyLength?: number
  canonBodyLengthTotal?: number
}

/** RFC 6376 §5.4 and §8.2: it signs the From, and nothing can be appended to the signed content. */
function coversAll(result: object): boolean {
  const { signingHeaders, canonBodyLength, canonBodyLengthTotal } = result as Coverage
  const fields = (signingHeaders?.keys ?? '').toLowerCase().split(': ')
  return fields.includes('from') && canonBodyLength === canonBodyLengthTotal
}
