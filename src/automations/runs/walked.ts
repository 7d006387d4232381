import type { JsonObject } from '../../json/index.js'
import type { EndStatus } from '../../runs/index.js'
import type {
  BlockedReason,
  Departure,
  Engagement,
  HistoryEntry,
  Judged,
  Obstacle,
  RunContact,
  RunState,
  StepOf,
  StoredEvent,
} from '../definition/index.js'
import type { ContactChanges } from './update.js'

/** What the store has of a run's contact, read before the walk. */
export interface RunFacts {
  /** Undefined once the contact is deleted. */
  contact: RunContact | undefined
  trigger: StoredEvent
  /** What ends all of the contact's runs, if that has happened. */
  departed: Departure | undefined
  /** The contact's earliest event of that name with an id above `after`. */
  nextEvent(name: string, after: number): StoredEvent | undefined
  /** What became of the latest mail that this run sent at that step; undefined if none. */
  mail(stepKey: string): Engagement | undefined
  optedOut(topicId: string): boolean
  /** What keeps this mail from being made, for now (quota, pause, domain, cap …) or for good. */
  obstacle(step: StepOf<'send_email'>, variables: JsonObject): Obstacle | undefined
}

/** What a step wants done: the walk itself changes nothing. */
export type StepAction =
  /** `entry` is the index in `history` of its `sent`, which lacks the mail's id. */
  | {
      kind: 'mail'
      stepId: number
      step: StepOf<'send_email'>
      variables: JsonObject
      entry: number
    }
  | { kind: 'update'; stepId: number; changes: ContactChanges }
  /** `entry`: the place of its `queued`, which whoever writes the action takes back where no webhook is sent. */
  | { kind: 'webhook'; stepId: number; endpointId: string; payload: JsonObject; entry: number }

/** Where a walk ends, and what the run waits for. */
export type Next =
  /**
   * Waits in a delay, or for `waitEvent`. `seen` is the newest event of that name that the walk has looked at: a newer
   * one that is there at the write makes the plan void.
   */
  | { kind: 'park'; stepId: number; dueAt: number; waitEvent: string | null; seen: number }
  | { kind: 'blocked'; stepId: number; reason: BlockedReason; until: number }
  /** Others have their turn; the run is due at once. */
  | { kind: 'continue'; stepId: number }
  | { kind: 'end'; stepId: number; status: EndStatus; reason: string | null }

/** `why`: how the rule of a step came out. It is not kept. */
export type WalkedEntry = HistoryEntry & { why?: Judged }

/** What a walk came to. */
export interface Walked {
  actions: StepAction[]
  next: Next
  /** Only what this walk adds. */
  history: WalkedEntry[]
  /** What replaces the run's own. */
  heard: RunState['heard']
  waits: RunState['waits']
  steps: number
  mails: number
}

/**
 * A run after a walk, as it waits or goes on; undefined if the walk has ended it. Entries of history are added as they
 * are: `appended` keeps them few.
 */
export function advanced(run: RunState, walked: Walked, now: number): RunState | undefined {
  const { next, heard, waits, steps, mails, history } = walked
  if (next.kind === 'end') return undefined
  const { stepId } = next
  const all = { ...run, stepId, wokenBy: null, heard, waits, steps, mails }
  const added = { ...all, history: [...run.history, ...history] }
  switch (next.kind) {
    case 'park': {
      // A run that was looked at too early is still where it was.
      const stays = walked.steps === run.steps && run.stepId === stepId
      const enteredAt = stays ? (run.enteredAt ?? now) : now
      return { ...added, enteredAt, dueAt: next.dueAt }
    }
    case 'blocked':
      return { ...added, enteredAt: null, dueAt: next.until }
    case 'continue':
      return { ...added, enteredAt: null, dueAt: now }
  }
}
