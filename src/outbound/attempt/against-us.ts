import type { BounceClass } from '../../reports/index.js'
import type { SiteOutcome } from '../shaping/index.js'

const blocks: readonly BounceClass[] = ['blocked', 'content', 'sender-authentication']
const deferrals: readonly BounceClass[] = ['throttled', 'busy', 'unknown']

// A greylist puts off whoever comes for the first time, and says nothing about our reputation.
const greylists = /gr[ae]y[\s-]?list/i

/**
 * What a refusal says about us at its site, for the brake: the site wants no more of this mail, or not now.
 * Undefined where the refusal is about the recipient, or where any sender would get it.
 */
export function saidAgainstUs(of: BounceClass, reply: string): SiteOutcome['against'] {
  if (blocks.includes(of)) return 'block'
  const isPutOff = reply.startsWith('4') && deferrals.includes(of) && !greylists.test(reply)
  return isPutOff ? 'deferral' : undefined
}
