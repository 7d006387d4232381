import type { Brake } from '../brakes/index.js'
import type { Learned, Policy, SiteGate, SourceState, WaitReason } from '../shaping/index.js'

/** One of our source addresses, in its present state at a site. */
export interface RehearsedSource {
  name: string
  learned: Learned | undefined
  brake: Brake | undefined
}

/** One thread's mail of the campaign to one site, and the mail that waits there before it. */
export interface RehearsedSite {
  key: string
  thread: number
  mails: number
  /**
   * The mail that waits there already: of the same account or a higher class, and then campaigns of other accounts.
   */
  ahead: number
  beside: number
  policy: Policy
  /** The words for its limits that people see: the rate and the connections of all threads. */
  says: { rate: WaitReason; connections: WaitReason }
  /** Each as often as its weight says. */
  sources: readonly RehearsedSource[]
  /** The operator holds its mail until then, in these words. */
  held?: { until: number; why: string } | undefined
  /** How long an attempt usually takes there; then which part of the attempts is put off. */
  attemptMs: number
  deferred: number
}

/** Everything that the run needs. */
export interface RehearsalPlan {
  startsAt: number
  /** When the nth mail of the whole campaign may leave (ms); undefined: never. */
  leavesAt: (n: number) => number | undefined
  /** When the campaign may go on: at once, or when its next hours begin. */
  opensAt: (now: number) => number
  sites: readonly RehearsedSite[]
  maxConnections: number
  threads: number
  /** Mails that one thread sends in a second at most. */
  perSecond: number
  /** By source; undefined: nothing is warmed up. */
  warmUp: ReadonlyMap<string, SourceState | undefined> | undefined
  /** Delays after the first attempt, the second … (ms). */
  retries: readonly number[]
}

/** What mail may wait for: a gate of its site, its own pace, its next attempt, or this machine. */
export type Gate = SiteGate | 'pace' | 'deferred' | 'appliance'

/** How the campaign's mail to a site fares. */
export interface SiteCourse {
  key: string
  mails: number
  /** When the last mail has ended; null: not within the time that is looked ahead. */
  doneAt: number | null
  /** When nine of ten mails have ended. */
  mostlyAt: number | null
  /** What the mail waited for, the longest wait first. */
  held: (WaitReason & { gate: Gate; ms: number })[]
}

export interface Rehearsed {
  doneAt: number | null
  sites: SiteCourse[]
}
