import type { ReadMail } from './read-mail.js'

/** The sealing domain, with an RSA key in PEM. */
export interface SealingDomain {
  name: string
  selector: string
  privateKey: string
}

/** The three fields of a seal; none where the chain before it is broken, which no seal mends. */
export async function sealOf(
  raw: Buffer,
  { arc, verdicts }: Pick<ReadMail, 'arc'> & { verdicts: Pick<ReadMail['verdicts'], 'arc'> },
  { name: signingDomain, selector, privateKey }: SealingDomain,
  now: number,
): Promise<string> {
  if (arc === undefined || verdicts.arc === undefined) return ''
  const { sealMessage } = await import('mailauth/lib/arc/index.js')
  const { cv, results: authResults } = arc
  // mailauth's types leave out the last two. Everything gets one time: mailauth asks the clock separately for what it
  // signs and for what it writes, and when a second ended in between the seal did not hold (16 of 2,000; with one time
  // none, 30 Nov 2026).
  const signTime = new Date(now - (now % 1_000))
  const options = { signingDomain, selector, privateKey, cv, authResults, signTime }
  const seal = await sealMessage(raw, options)
  return seal.toString('latin1')
}
