import type { Brake } from '../brakes/index.js'
import type { Learned, Policy, SiteGate, SourceState, WaitReason } from '../shaping/index.js'

/** One of our addresses, as it is at a site now. */
export interface RehearsedSource {
  name: string
  learned: Learned | undefined
  brake: Brake | undefined
}

/** Mail of the campaign to one site, and what is there before it; one thread's. */
export interface RehearsedSite {
  key: string
  thread: number
  mails: number
  /** What waits there already, of the same account or of a higher class, and campaigns of others. */
  ahead: number
  beside: number
  policy: Policy
  /** What its limits are called before people: the rate and the connections of all threads. */
  says: { rate: WaitReason; connections: WaitReason }
  /** Each as often as its weight says. */
  sources: readonly RehearsedSource[]
  /** The operator holds its mail until then, in these words. */
  held?: { until: number; why: string } | undefined
  /** How long an attempt usually takes there, and which part of them is put off. */
  attemptMs: number
  deferred: number
}

/** All that the run goes by. */
export interface RehearsalPlan {
  startsAt: number
  /** When the nth mail of the campaign may leave, of all to whomever (ms); undefined: never. */
  leavesAt: (n: number) => number | undefined
  /** When it may go on: at once, or when the next of its hours begin. */
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
  /** When the last of it has ended; null: not within the time that is looked ahead. */
  doneAt: number | null
  /** When nine of ten have. */
  mostlyAt: number | null
  /** What it waited for, the longest first. */
  held: (WaitReason & { gate: Gate; ms: number })[]
}

export interface Rehearsed {
  doneAt: number | null
  sites: SiteCourse[]
}
