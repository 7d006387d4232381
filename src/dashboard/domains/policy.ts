import type { RecordCheck } from '../../domains/index.js'
import type { Tone } from '../shell/parts.js'

/** What the DMARC record of a domain asks of receivers, in words. */
export interface PolicyView {
  text: string
  tone: Tone
  sentence: string
  /** What to do next; empty where nothing is. */
  next: string
}

// RFC 9989 §4.7: the three things that a policy can ask for.
const meanings: Record<string, Omit<PolicyView, 'next'> & { next: string }> = {
  none: {
    text: 'p=none',
    tone: 'doubt',
    sentence:
      'Receivers take mail in the name of this domain whoever sends it, and only report what they see.',
    next: 'Watch the reports for some weeks. When all of your own mail passes, publish p=quarantine, and then p=reject.',
  },
  quarantine: {
    text: 'p=quarantine',
    tone: 'good',
    sentence: 'Receivers put mail that only pretends to be from this domain into the spam folder.',
    next: 'When the reports show that nothing of yours fails, p=reject protects the name fully.',
  },
  reject: {
    text: 'p=reject',
    tone: 'good',
    sentence: 'Receivers refuse mail that only pretends to be from this domain.',
    next: '',
  },
}

/** By what the last look found. `reportsTo`: where this appliance takes reports; undefined: it takes none. */
export function policyOf(seen: RecordCheck | undefined, reportsTo: string | undefined): PolicyView {
  const none = { text: 'unknown', tone: 'none', next: '' } as const
  if (seen === undefined) return { ...none, sentence: 'Nobody has looked for the record yet.' }
  if (seen.state === 'unknown') return { ...none, sentence: 'The DNS gave no answer.' }
  const [found = '', ...more] = seen.found
  if (more.length > 0) {
    const sentence = 'There are several DMARC records, and receivers then use none of them.'
    return { text: 'several', tone: 'bad', sentence, next: 'Keep one.' }
  }
  const [, wanted = ''] = /;\s*p\s*=\s*(\w+)/i.exec(found) ?? []
  const meaning = meanings[wanted.toLowerCase()]
  if (meaning === undefined) {
    const sentence = 'Without a policy, large receivers refuse or junk bulk mail of the domain.'
    return { text: 'none', tone: 'bad', sentence, next: 'Publish the DMARC record above.' }
  }
  if (reportsTo === undefined || found.toLowerCase().includes(reportsTo.toLowerCase())) {
    return meaning
  }
  const reports = `Add rua=mailto:${reportsTo} to the record, so that the reports come here.`
  return { ...meaning, next: [meaning.next, reports].filter(Boolean).join(' ') }
}
