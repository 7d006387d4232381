import type { JobRun } from '../calendar/index.js'
import type { LiveGate, RetriedLanes, StreamKey } from '../deliveries/index.js'
import type { Overview } from '../doctor/index.js'
import { messageOf } from '../errors/index.js'
import { holds, type NodeWanted } from '../nodes/index.js'
import type { Store } from '../store/index.js'
import type { Calendar } from './calendar.js'
import type { Crew } from './crew.js'
import type { Ring } from './ring.js'

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

/** What a command asks or tells the running appliance; a line of JSON, answered with one. */
export type ControlQuestion = OwnQuestion & {
  /** The node that is meant, where it is not this one. */
  node?: string | number | undefined
}

/** The gate is null too where none was asked for. */
export interface ControlAnswer {
  gate: LiveGate | null
  job?: JobAnswer
  overview?: Overview
  /** Their ids. */
  plans?: readonly string[]
  /** Why another node, which was to answer, did not: a sentence without a full stop. */
  unheard?: string
}

/** The gate that was asked for; that of a node that does not say is itself one. */
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
  /** What this appliance itself knows. */
  own(question: OwnQuestion): Promise<ControlAnswer>
  /** The same, and what the others have to be asked or told. */
  any(question: ControlQuestion): Promise<ControlAnswer>
}

// A command waits for 3 seconds, or for 9 where it asks for an overview.
const usuallyWithinMs = 2_000
const overviewWithinMs = 7_000

interface Deps {
  crew: Pick<Crew, 'gateOf' | 'retry'>
  runNow: Calendar['runNow']
  overview: () => Promise<Overview>
  planIds: readonly string[]
  ring: Pick<Ring, 'ask' | 'tell'>
  store: Pick<Store, 'node'>
}

/** Answers commands, pages and other nodes. */
export function makeAnswers({ crew, runNow, overview, planIds, ring, store }: Deps): Answers {
  const own = async (question: OwnQuestion): Promise<ControlAnswer> => {
    if ('retry' in question) {
      crew.retry(question.retry)
      return { gate: null }
    }
    if ('runJob' in question) return { gate: null, job: await runJob(runNow, question) }
    if ('plans' in question) return { gate: null, plans: planIds }
    if ('overview' in question) return { gate: null, overview: await overview() }
    return { gate: (await crew.gateOf(question.gateOf)) ?? null }
  }
  const askOf = async (node: NodeWanted, question: OwnQuestion): Promise<ControlAnswer> => {
    const { answer, unheard } = await ring.ask(node, question, withinMs(question))
    return answer ?? { gate: null, ...(unheard !== undefined && { unheard }) }
  }
  return {
    own,
    async any({ node, ...question }) {
      if (node !== undefined && node !== store.node.number) return await askOf(node, question)
      if ('retry' in question) ring.tell({ retry: question.retry })
      if (!('runJob' in question) || holds(store.node, 'calendar')) return await own(question)
      const answer = await askOf({ duty: 'calendar' }, question)
      const { unheard } = answer
      return unheard === undefined
        ? answer
        : {
            ...answer,
            job: { kind: 'not begun', cause: `the jobs are another node's: ${unheard}` },
          }
    },
  }
}

function withinMs(question: OwnQuestion): number {
  if ('overview' in question) return overviewWithinMs
  // It may take hours.
  return 'runJob' in question && question.wait ? 0 : usuallyWithinMs
}

/** Waits for the end only where asked to, since jobs may take hours. */
async function runJob(
  runNow: Calendar['runNow'],
  { runJob: name, wait }: { runJob: string; wait: boolean },
): Promise<JobAnswer> {
  const started = runNow(name)
  if (started === undefined) return { kind: 'unknown' }
  if (started.kind === 'under way') return started
  const { behind, ended } = started
  if (!wait) return { kind: 'started', ...(behind !== undefined && { behind }) }
  return await ended.then(
    (run) => ({ kind: 'ended', run }),
    (error) => ({ kind: 'not begun', cause: messageOf(error) }),
  )
}

/** What may be a question: it comes from who may read the database, or has the appliance key, and is judged all the same. */
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
  const { gateOf } = question
  const fits =
    typeof gateOf.lane === 'string' &&
    typeof gateOf.accountId === 'string' &&
    [0, 1, 2].includes(gateOf.class)
  return fits ? { gateOf } : undefined
}
