import type { JobRun } from '../calendar/index.js'
import type { KeptThing } from '../dashboard/index.js'
import type { LiveGate, RetriedLanes, StreamKey } from '../deliveries/index.js'
import type { Overview } from '../doctor/index.js'

/** What is asked of one appliance, or told to it. */
export type OwnQuestion =
  | { gateOf: StreamKey }
  | { retry: RetriedLanes }
  /** `wait`: the answer comes when the run has ended. */
  | { runJob: string; wait: boolean }
  /** How the appliance stands. */
  | { overview: true }
  /** Which plans it has read. */
  | { plans: true }
  /** What a page of it keeps in memory. */
  | { kept: KeptThing }

/** What a command asks or tells the running appliance; a line of JSON, answered with one. */
export type ControlQuestion = OwnQuestion & {
  /** The node that is meant, where it is another one than this. */
  node?: string | number | undefined
}

/** The gate is null too where no gate was asked for. */
export interface ControlAnswer {
  gate: LiveGate | null
  job?: JobAnswer
  overview?: Overview
  /** The ids of these plans. */
  plans?: readonly string[]
  /** What was kept. */
  kept?: string
  /** Why another node that was to answer did not: a sentence without a full stop. */
  unheard?: string
}

/** The gate that was asked for; where a node does not say, that counts as a gate. */
export const gateIn = ({ gate, unheard }: ControlAnswer): LiveGate | undefined =>
  unheard === undefined
    ? (gate ?? undefined)
    : {
        gate: 'node',
        says: `It waits at another node, and what holds it there is not known: ${unheard}`,
      }

export type JobAnswer =
  | { kind: 'unknown' }
  | { kind: 'under way'; since: number }
  | { kind: 'started'; behind?: string }
  | { kind: 'ended'; run: JobRun }
  | { kind: 'not begun'; cause: string }

export interface Answers {
  /** Answers what this appliance itself knows. */
  own(question: OwnQuestion): Promise<ControlAnswer>
  /** The same, and asks or tells the other nodes where that is needed. */
  any(question: ControlQuestion): Promise<ControlAnswer>
}

/**
 * The question in what is given. It comes from somebody who may read the database, or has the appliance key, and is
 * checked all the same.
 */
export function readQuestion(given: unknown): ControlQuestion | undefined {
  try {
    const question = given as ControlQuestion
    const asked = readOwn(question)
    const { node } = question
    if (asked === undefined || node === undefined) return asked
    return typeof node === 'string' || typeof node === 'number' ? { node, ...asked } : undefined
  } catch {
    return undefined
  }
}

function readOwn(question: OwnQuestion): OwnQuestion | undefined {
  if ('retry' in question) {
    const { retry } = question
    const fits = retry === 'all' || retry.every((lane) => typeof lane === 'string')
    return fits ? { retry } : undefined
  }
  if ('runJob' in question) {
    const { runJob, wait } = question
    return typeof runJob === 'string' ? { runJob, wait: wait === true } : undefined
  }
  if ('overview' in question) return { overview: true }
  if ('plans' in question) return { plans: true }
  if ('kept' in question) {
    const { kind, id } = question.kept
    return typeof kind === 'string' && typeof id === 'string' ? { kept: { kind, id } } : undefined
  }
  const { gateOf } = question
  const fits =
    typeof gateOf.lane === 'string' &&
    typeof gateOf.accountId === 'string' &&
    [0, 1, 2].includes(gateOf.class)
  return fits ? { gateOf } : undefined
}
