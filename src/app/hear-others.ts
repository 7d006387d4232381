import { jobCatalogue } from '../config/index.js'
import type { Ground } from './ground.js'
import type { Answers } from './questions.js'
import { type JobOfEach, jobsOfEach, type News, type RungJob } from './ring.js'
import type { Work } from './work.js'

/** Has this node hear the others: by rings and, where a ring was lost, by its signs of life. */
export function hearOthers(
  { ownNode, log }: Pick<Ground, 'ownNode' | 'log'>,
  {
    nodes,
    crew,
    jobs,
    jobThreads,
    ring,
  }: Pick<Work, 'nodes' | 'crew' | 'jobs' | 'jobThreads' | 'ring'>,
  { own }: Pick<Answers, 'own'>,
): void {
  // One after another, as these jobs share a place in the writers' turns.
  let looking = Promise.resolve()
  const look = async (name: JobOfEach) => {
    // The calendar came to this node meanwhile, and runs the job.
    if (jobThreads.isRunning(name)) return
    const { limitMs } = jobCatalogue[name]
    const { error } = await jobThreads.run(name, { limitMs })
    if (error !== undefined) log.error({ error, job: name }, 'A job failed')
  }
  const lookHere = (name: JobOfEach) => {
    looking = looking.then(() => look(name))
  }
  const begin = (name: RungJob) => {
    if (isOfEach(name)) return lookHere(name)
    // A node of another release may ring for work that this one does not know.
    jobs.heard[name]?.()
  }
  const hear = ({ due = [], retry, jobs: rung = [] }: News) => {
    ring(due)
    if (retry !== undefined) crew.retry(retry)
    for (const name of rung) begin(name)
  }
  nodes.hearBy({ own, hear })
  let { wakes } = ownNode.held
  ownNode.onHeld.push((held) => {
    if (held.wakes === wakes) return
    wakes = held.wakes
    hear({ retry: [], jobs: ['expand', 'automate', 'keepSegments'] })
  })
}

export const isOfEach = (name: string): name is JobOfEach => jobsOfEach.some((one) => one === name)
