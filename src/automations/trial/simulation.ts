import type { JsonObject } from '../../json/index.js'
import type { EndStatus } from '../../runs/index.js'
import type {
  Departure,
  Judged,
  Obstacle,
  RunContact,
  RunState,
  StepDefinition,
  StepOf,
  StoredEvent,
} from '../definition/index.js'
import type { EntryRefusal } from '../runs/index.js'

/*
 * What the simulator is asked and what it tells: a world of one contact, and the timeline of what one automation does
 * in it. `simulate.ts` walks through it.
 */

/** Something that happens to the contact. Of what happens at the same ms, the earlier in the list is first. */
export type SimulatedHappening =
  | { at: number; kind: 'event'; name: string; payload: StoredEvent['payload']; depth?: number }
  | { at: number; kind: 'departed'; reason: Departure }

/** The keys of steps whose mails' opens or clicks the engine never learns. */
export interface UnseenMails {
  opened: ReadonlySet<string>
  clicked: ReadonlySet<string>
}

/** A world of one contact and one automation. */
export interface SimulatedWorld {
  contact: RunContact
  /** In the order of time; the first event that the trigger hears starts the run. */
  happenings: readonly SimulatedHappening[]
  /** How long after each mail of a step it is opened or clicked (ms), by the step's key. */
  opens?: ReadonlyMap<string, number>
  clicks?: ReadonlyMap<string, number>
  /** The steps of whose mails nobody sees the opens, or the clicks. */
  unseen?: UnseenMails | undefined
  optedOut?(topicId: string): boolean
  /** What keeps a mail from being made at that time; nothing by default, so that the whole way is seen. */
  obstacle?(step: StepOf<'send_email'>, variables: JsonObject, now: number): Obstacle | undefined
  /** What would keep the mail from being made as things really are: told at the line, without effect. */
  wouldStop?(step: StepOf<'send_email'>, variables: JsonObject, now: number): string | undefined
  /** Nothing that comes later is shown. */
  until: number
}

/** A line of the timeline: what a step did, when and why. */
export interface SimulatedLine {
  at: number
  /** From 0: a contact may go through several times. */
  run: number
  /** The step's key; null for the mark of a history. */
  step: string | null
  type: StepDefinition['type'] | null
  result: string
  /** The operands of the condition as they were. */
  why?: Judged
  /** What the awaited event was. */
  event?: StoredEvent
  /** What the template of a send sees. */
  mail?: { step: StepOf<'send_email'>; variables: JsonObject }
  /** What would really have kept the mail from being made (`wouldStop`). */
  stoppedBy?: string
}

/** One time that the contact went through. */
export interface SimulatedRun {
  startedAt: number
  /** Null while it is under way. */
  ended: { at: number; status: EndStatus; reason: string | null } | null
  /** Where it stands at `until`; undefined when it has ended. */
  state: RunState | undefined
}

/**
 * Why nothing begins. For what begins on a date also `no_date`: the field has no day that is still to come, and
 * `unreadable_date`: its value is no day.
 */
export type TrialRefusal = EntryRefusal | 'no_date' | 'unreadable_date'

/** What a walk tells: its timeline, its runs, and what started none. */
export interface Simulation {
  lines: SimulatedLine[]
  runs: SimulatedRun[]
  /** Events that the trigger hears, but that start nothing. */
  refused: { at: number; reason: TrialRefusal }[]
  /** The walk is not told to its end: there are too many lines, or walks. */
  cut: boolean
}
