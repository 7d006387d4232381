import { occursIn, withoutLinks, wordsOf } from './pattern.js'
import type { BounceRules, ClassEffect, CodeRule, Retry, TextRule, Verdict } from './verdict.js'

/** What a server answered, or what a report says about one recipient. */
export interface Said {
  text: string
  /** RFC 5321 reply code; 0 if a report names none. */
  code: number
  /** RFC 3463 status such as `5.1.1`. */
  status: string | undefined
  /** The MX that answered or the MTA that reports, which tells the provider. */
  host: string | undefined
  /**
   * There will be no other attempt: a 5yz, or a report of a failure (RFC 3464 §2.3.3), even with
   * 4.y.z.
   */
  final: boolean
}

/**
 * Concludes from the provider's text, text, status and code, in this order: the first rule that
 * fits decides.
 */
export function classify(rules: BounceRules, said: Said): Verdict {
  const words = wordsOf(said.text)
  const temporary = said.code > 0 ? said.code < 500 : said.status?.startsWith('4') === true
  const code = said.code > 0 ? String(said.code) : temporary ? '4' : '5'
  const fits = ({ code: beginning, patterns, unless }: TextRule) => {
    // A 4yz quoted by a report of a failure was the last word, as there is no other attempt.
    if (!code.startsWith(beginning) && !(said.final && beginning === '5')) return false
    if (!patterns.some((pattern) => occursIn(pattern, words))) return false
    const others = unless.length > 0 ? withoutLinks(words) : words
    return !unless.some((pattern) => occursIn(pattern, others))
  }
  const known = providerTexts(rules, said.host).find(fits)
  const rule = known ?? rules.text.find(fits) ?? byStatus(rules, said.status) ?? byCode(rules, code)
  const verdict = verdictOf(rules, rule, said)
  // The meaning of a provider's own words is known, at whichever command it uses them.
  const isGuess = isUnsure(verdict, words.text, said) || isGuessed(rule, said)
  return known === undefined && verdict.suppress && isGuess ? { ...verdict, ...repeated } : verdict
}

/** Whether a rule fits only by uncertain words: 'may not exist' is the server's own guess. */
function isGuessed(rule: CodeRule | TextRule, { text }: Said): boolean {
  if (!('patterns' in rule)) return false
  const rest = text.replace(/\b(?:may|might)\s+(?:not|no longer)\s+\w+/gi, ' ')
  if (rest === text) return false
  const words = wordsOf(rest)
  return !rule.patterns.some((pattern) => occursIn(pattern, words))
}

const repeated = { suppress: false, soft: true, bounceType: 'Transient' } as const

/**
 * RFC 5321 §3.3: some servers check recipients only after the message, but then a recipient's filter may say
 * 'unknown' too, for example about a domain in the message. A status is certain. 'Host unknown' in a reply
 * without one may be about any host, or come from a failing DNS.
 */
function isUnsure({ class: name }: Verdict, words: string, { code, status }: Said) {
  if (name !== 'bad-mailbox' && name !== 'bad-domain') return false
  const isBare = name === 'bad-domain' && code > 0 && status === undefined
  if (isBare && hostAlone.test(words) && !/name server/.test(words)) return true
  return /\(in reply to (?:end of )?data\b/.test(words) && status?.startsWith('5.1.') !== true
}

const hostAlone =
  /^(?:[^a-z]|<>)*(?:host(?: ?name)?(?: is)? (?:unknown|not found)|(?:unknown|no such) host)\b/

/** The verdict of a class, from whatever it was concluded. `shown` is the verdict's `rule`. */
export function verdictOf(
  rules: BounceRules,
  { class: name, shown }: CodeRule,
  said: Pick<Said, 'code' | 'final'>,
): Verdict {
  const effect = rules.classes.get(name)
  if (effect === undefined) throw new Error(`No effect of class ${name}`)
  return {
    class: name,
    bounceType: said.final ? effect.bounceType : 'Transient',
    rule: shown,
    suppress: said.final && effect.suppress === 'now',
    soft: said.final && effect.suppress === 'repeated',
    retry: retryOf(effect, said),
    event: effect.event,
  }
}

/** A server's reply as it is stored: code, and text that begins with the status. */
export function saidInReply(reply: string, host?: string): Said | undefined {
  const code = Number(/^([45]\d\d)(?=[ -]|$)/.exec(reply)?.[1] ?? 0)
  if (code === 0) return undefined
  const text = reply.slice(4)
  return { text, code, status: statusIn(text, code), host, final: code >= 500 }
}

/** The first status in a text, but not digits of an address such as 192.0.2.1. */
export function statusIn(text: string, code = 0): string | undefined {
  const head = text.slice(0, 1_000)
  for (const [status] of head.matchAll(/(?<![\d.])[45]\.\d{1,3}\.\d{1,3}(?![\d.]*\d)/g)) {
    // RFC 2034 §4: the status's class must agree with the code, or it is just text.
    if (code === 0 || Number(status[0]) === Math.floor(code / 100)) return status
  }
  return undefined
}

function providerTexts(rules: BounceRules, host: string | undefined): readonly TextRule[] {
  if (host === undefined) return []
  const name = host.toLowerCase().replace(/\.$/, '')
  for (const { hosts, text } of rules.providers.values()) {
    if (hosts.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))) return text
  }
  return []
}

function byStatus(rules: BounceRules, status: string | undefined): CodeRule | undefined {
  const [kind, subject, detail] = status?.split('.') ?? []
  if (detail === undefined) return undefined
  const keys = [
    `${kind}.${subject}.${detail}`,
    `x.${subject}.${detail}`,
    `${kind}.${subject}.x`,
    `x.${subject}.x`,
  ]
  for (const key of keys) {
    const rule = rules.status.get(key)
    if (rule !== undefined) return rule
  }
  return undefined
}

function byCode(rules: BounceRules, code: string): CodeRule {
  for (let length = code.length; length > 0; length--) {
    const rule = rules.code.get(code.slice(0, length))
    if (rule !== undefined) return rule
  }
  return { class: 'unknown', shown: `no rule for ${code}` }
}

/** RFC 5321 §4.2.1: a 4yz asks for another attempt, whatever our rules say. */
function retryOf({ retry }: ClassEffect, { code, final }: Pick<Said, 'code' | 'final'>): Retry {
  if (code >= 500 || final) return retry
  return retry === 'slow' ? 'slow' : 'yes'
}
