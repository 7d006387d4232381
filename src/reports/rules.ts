import type { Pattern } from './pattern.js'
import type { BounceClass, ClassEffect } from './verdict.js'

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
