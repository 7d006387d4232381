import type { NodeMemory } from '../dashboard/index.js'
import type { Overview } from '../doctor/index.js'
import { messageOf } from '../errors/index.js'
import { holds, type NodeWanted } from '../nodes/index.js'
import type { Store } from '../store/index.js'
import type { Calendar } from './calendar.js'
import type { Crew } from './crew.js'
import type { Answers, ControlAnswer, JobAnswer, OwnQuestion } from './questions.js'
import type { Ring } from './ring.js'

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
  memory: Pick<NodeMemory, 'answer'>
}

/** Answers commands, pages and other nodes. */
export function makeAnswers(deps: Deps): Answers {
  const { crew, runNow, overview, planIds, ring, store, memory } = deps
  const own = async (question: OwnQuestion): Promise<ControlAnswer> => {
    if ('retry' in question) {
      crew.retry(question.retry)
      return { gate: null }
    }
    if ('runJob' in question) return { gate: null, job: await runJob(runNow, question) }
    if ('plans' in question) return { gate: null, plans: planIds }
    if ('kept' in question) {
      const kept = memory.answer(question.kept)
      return { gate: null, ...(kept !== undefined && { kept }) }
    }
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
