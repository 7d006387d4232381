import type { Compiled, CompiledStep } from './compile.js'
import type { Facts } from './field.js'
import type { Judged } from './rule.js'
import type { Engagement, RunState, StoredEvent, Traveller } from './run.js'
import type { Known, Next, StepAction, WalkedEntry } from './walked.js'

/** A walk on its way. */
export interface Going {
  version: Compiled
  run: RunState
  known: Known
  now: number
  at: CompiledStep
  /** Null as soon as the step in which the run waited is left. */
  enteredAt: number | null
  wokenBy: StoredEvent | null
  contact: Traveller | undefined
  actions: StepAction[]
  history: WalkedEntry[]
  heard: Record<string, number>
  waits: { key: string; event: StoredEvent }[]
  /** Keys of sends whose mail is being made by this walk. */
  sent: Set<string>
  steps: number
  mails: number
}

/** What a step comes to. */
export type Taken =
  /** Goes on along that edge; where there is none the run has come to its end. */
  { edge: string; result: string; why?: Judged; eventId?: number } | Next

export type Ended = Next & { kind: 'end' }

export const exit = (at: CompiledStep, reason: string): Ended => ({
  kind: 'end',
  stepId: at.id,
  status: 'exited',
  reason,
})

export const fail = (at: CompiledStep, reason: string): Ended => ({
  kind: 'end',
  stepId: at.id,
  status: 'failed',
  reason,
})

/** A line of history about the step at which the walk is. */
export function note({ at, now, history }: Going, result: string): void {
  history.push({ stepId: at.id, at: now, result })
}

/** What rules and variables see at this step. */
export function factsOf({ contact, known, waits, sent }: Going): Facts {
  return {
    contact,
    trigger: known.trigger,
    event: waits.at(-1)?.event ?? known.trigger,
    waits,
    // Nobody has opened what is only being made.
    mail: (key) => (sent.has(key) ? unread : known.mail(key)),
  }
}

const unread: Engagement = { opened: false, clicked: false, delivered: false, bounced: false }
