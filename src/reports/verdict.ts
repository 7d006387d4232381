import type { Pattern } from './pattern.js'

/** What a failure is, in a postmaster's terms (`notes/mta.md` §3). */
export const bounceClasses = [
  'bad-mailbox',
  'bad-domain',
  'disabled',
  'mailbox-full',
  'recipient-rate',
  'busy',
  'throttled',
  'blocked',
  'sender-authentication',
  'content',
  'too-large',
  'routing',
  'protocol',
  'unreachable',
  'unknown',
] as const

export type BounceClass = (typeof bounceClasses)[number]

/** Whether another attempt makes sense; `atMost` counts all attempts, the first one included. */
export type Retry = 'no' | 'yes' | 'slow' | 'once' | { atMost: number }

/** The effects of a class of failures, from the rules' file. */
export interface ClassEffect {
  /** Applies after a final reply (5yz); after 4yz there is always another attempt. */
  retry: Retry
  /** `repeated`: after several mails in a row that fail this way. */
  suppress: 'no' | 'now' | 'repeated'
  event: 'bounced' | 'failed'
  bounceType: 'Permanent' | 'Transient'
}

/** The conclusion from a server's or a report's words. */
export interface Verdict {
  class: BounceClass
  bounceType: 'Permanent' | 'Transient'
  /** The rule that decided, and its file: `text "unknown user" of config/bounce-rules.toml`. */
  rule: string
  /** Suppress at once: the failure is final and shows that nobody reads mail there. */
  suppress: boolean
  /** Final, and one of the failures that suppress an address when they are repeated. */
  soft: boolean
  retry: Retry
  /** How the delivery ends if there is no other attempt. */
  event: 'bounced' | 'failed'
}

/** The rules of all files, those of the operator first. */
export interface BounceRules {
  readonly files: readonly string[]
  readonly classes: ReadonlyMap<BounceClass, ClassEffect>
  readonly providers: ReadonlyMap<string, Provider>
  readonly text: readonly TextRule[]
  /** `5.1.1`, `x.1.1`, `5.1.x`, `x.1.x` → class. */
  readonly status: ReadonlyMap<string, CodeRule>
  /** `552`, `55`, `5` → class. */
  readonly code: ReadonlyMap<string, CodeRule>
}

export interface Provider {
  /** Names of the provider's hosts, each with all names below it. */
  readonly hosts: readonly string[]
  readonly text: readonly TextRule[]
}

export interface TextRule {
  readonly name: string
  readonly class: BounceClass
  /** At least one of them has to occur. */
  readonly patterns: readonly Pattern[]
  /** None of them may occur. */
  readonly unless: readonly Pattern[]
  /** The beginning of the reply's code; '' for any. */
  readonly code: string
  /** Its name in a verdict. */
  readonly shown: string
}

export interface CodeRule {
  readonly class: BounceClass
  readonly shown: string
}
