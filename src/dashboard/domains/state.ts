import type { Domain } from '../../domains/index.js'
import type { Tone } from '../shell/parts.js'

/** A state in a word, and what follows from it. */
export interface StateView {
  text: string
  tone: Tone
  sentence: string
}

/** Whether a domain can send, and what all of its records would improve. */
export function stateOf(domain: Domain): StateView {
  const { status, trusted, returnPath, keys } = domain
  if (trusted) {
    const sentence =
      'It counts as verified because the operator said so: nothing depends on what the DNS says.'
    return { text: 'trusted', tone: 'good', sentence }
  }
  if (status === 'pending') {
    const sentence =
      'Nothing can be sent from it yet: publish the record that is marked as required, then check again.'
    return { text: 'not verified', tone: 'doubt', sentence }
  }
  const isWhole = returnPath && keys.every(({ verified }) => verified)
  const sentence = isWhole
    ? 'Its mail is signed by both keys, and bounces come back by its own return path.'
    : 'Mail can be sent from it. With the records that are missing it is received better.'
  return { text: 'verified', tone: 'good', sentence }
}
