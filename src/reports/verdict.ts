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

/** What a class of failures brings about, as the rules' file says. */
export interface ClassEffect {
  /** After a reply that calls itself final (5yz); after 4yz there is always another attempt. */
  retry: Retry
  /** `repeated`: when mail after mail fails so. */
  suppress: 'no' | 'now' | 'repeated'
  event: 'bounced' | 'failed'
  bounceType: 'Permanent' | 'Transient'
}

/** What was concluded from what a server or a report has said. */
export interface Verdict {
  class: BounceClass
  bounceType: 'Permanent' | 'Transient'
  /** The rule that decided, and its file: `text "unknown user" of config/bounce-rules.toml`. */
  rule: string
  /** At once: it is final and shows that nobody reads mail there. */
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
  /** Names of hosts that answer for it, each with all that lies below it. */
  readonly hosts: readonly string[]
  readonly text: readonly TextRule[]
}

export interface TextRule {
  readonly name: string
  readonly class: BounceClass
  /** One of them has to occur. */
  readonly patterns: readonly Pattern[]
  /** None of them may occur. */
  readonly unless: readonly Pattern[]
  /** How the reply's code begins; '' for any. */
  readonly code: string
  /** What it is called in a verdict. */
  readonly shown: string
}

export interface CodeRule {
  readonly class: BounceClass
  readonly shown: string
}
