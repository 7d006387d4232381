import type { DkimVerdict, Verdicts } from '../../reports/index.js'
import type { SandboxSummary } from '../../sandbox/index.js'

/** Shown by colour and by sign: good, doubtful, bad, nothing to say. */
export type CheckTone = 'good' | 'doubt' | 'bad' | 'none'

/** One verdict: what was checked, the result, and what that means. */
export interface VerdictWords {
  check: 'DKIM' | 'SPF' | 'DMARC'
  result: string
  tone: CheckTone
  sentence: string
  /** As a receiver writes it into Authentication-Results. */
  info: string
}

/** Every verdict of a message in plain words, DKIM first. Empty until the checks are done. */
export function verdictWords({ verdicts, remoteAddress }: SandboxSummary): VerdictWords[] {
  if (verdicts === undefined) return []
  const { dkim, spf, dmarc } = verdicts
  return [
    ...dkim.map((signature): VerdictWords => {
      const { result, info } = signature
      return { check: 'DKIM', result, tone: tone(result), sentence: dkimSentence(signature), info }
    }),
    {
      check: 'SPF',
      result: spf.result,
      tone: tone(spf.result),
      sentence: spfSentence(spf, remoteAddress),
      info: spf.info,
    },
    {
      check: 'DMARC',
      result: dmarc.result,
      tone: tone(dmarc.result),
      sentence: dmarcSentence(dmarc),
      info: dmarc.info,
    },
  ]
}

export type Badge = Pick<VerdictWords, 'check' | 'result' | 'tone'>

/** One badge for each check, for the list; of several signatures the best counts, as for DMARC. */
export function verdictBadges(message: SandboxSummary): Badge[] {
  const words = verdictWords(message)
  // RFC 9989: one signature that passes is enough for DMARC.
  const best = words.find(({ check, tone }) => check === 'DKIM' && tone === 'good') ?? words[0]
  return best === undefined ? [] : [best, ...words.filter(({ check }) => check !== 'DKIM')]
}

/** `permerror` counts as bad: the record itself must be corrected (RFC 7208 §2.6.7). */
function tone(result: string): CheckTone {
  if (result === 'pass') return 'good'
  if (result === 'fail' || result === 'permerror') return 'bad'
  return result === 'none' ? 'none' : 'doubt'
}

/** A sentence for each result of RFC 8601 §2.7.1, saying what is the matter. */
function dkimSentence({ result, domain, selector, algorithm, info }: DkimVerdict): string {
  const signature = `The ${algorithm || 'DKIM'} signature by ${domain || 'an unnamed domain'}`
  const record = `${selector}._domainkey.${domain}`
  switch (result) {
    case 'pass':
      return `${signature} (selector ${selector}) is valid: the mail arrived as it was signed.`
    case 'fail':
      return info.includes('body hash')
        ? `${signature} does not fit the body: it was changed after signing.`
        : `${signature} is wrong: a header was changed after signing, or the key at ${record} is another.`
    case 'none':
      return 'The mail is not signed.'
    case 'neutral':
      return info.includes('no key')
        ? `${signature} cannot be verified: there is no key at ${record}.`
        : `${signature} says nothing either way: ${info}`
    case 'policy':
      return `${signature} is not accepted: its key is too short.`
    case 'temperror':
      return `${signature} could not be verified for now: the DNS gave no answer.`
    default:
      return `${signature} cannot be verified: ${info}`
  }
}

/**
 * A sentence for each result of RFC 7208 §2.6. Mail reaches the sandbox from this machine itself,
 * which real receivers never see; the sentence says so where that may be the reason.
 */
function spfSentence({ result, domain }: Verdicts['spf'], address: string): string {
  const here = 'The sandbox sees its own machine as the sender, a receiver the public address.'
  switch (result) {
    case 'pass':
      return `${domain} lets ${address} send its mail.`
    case 'fail':
      return `${domain} does not let ${address} send its mail. ${here}`
    case 'softfail':
      return `${domain} says that ${address} is probably not one of its senders. ${here}`
    case 'neutral':
      return `${domain} does not say whether ${address} may send its mail. ${here}`
    case 'none':
      return `${domain || 'The envelope sender'} has no SPF record that is known here.`
    case 'temperror':
      return `The SPF record of ${domain} could not be read for now.`
    default:
      return `The SPF record of ${domain} cannot be understood.`
  }
}

/** What DMARC made of DKIM and SPF, and what the domain asks receivers to do. */
function dmarcSentence({ result, domain, policy }: Verdicts['dmarc']): string {
  const wish =
    policy === 'reject' || policy === 'quarantine'
      ? `asks receivers to ${policy} such mail`
      : 'asks receivers to do nothing about it'
  switch (result) {
    case 'pass':
      return `The From address is authentic: DKIM or SPF passed for ${domain}.`
    case 'fail':
      return `Neither DKIM nor SPF passed for ${domain}, the domain of the From address; its policy ${wish}.`
    case 'none':
      return domain === ''
        ? 'There is no From address to check.'
        : `${domain} has no DMARC record that is known here.`
    case 'temperror':
      return `The DMARC record of ${domain} could not be read for now.`
    default:
      return `The DMARC record of ${domain} cannot be understood.`
  }
}
