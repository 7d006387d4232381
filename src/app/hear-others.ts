import { holds } from '../nodes/index.js'
import type { Ground } from './ground.js'
import type { Answers } from './questions.js'
import type { News } from './ring.js'
import type { Work } from './work.js'

/** Has this node hear the others, by rings and, where one was lost, by its signs of life. */
export function hearOthers(
  { ownNode, store }: Pick<Ground, 'ownNode' | 'store'>,
  { nodes, crew, jobs, ring }: Pick<Work, 'nodes' | 'crew' | 'jobs' | 'ring'>,
  { own }: Pick<Answers, 'own'>,
): void {
  const hear = ({ due = [], retry, jobs: rung = [] }: News) => {
    ring(due)
    if (retry !== undefined) crew.retry(retry)
    // Who has the duty no more would only ring on.
    for (const name of rung) if (holds(store.node, dutyOf[name])) jobs[name]()
  }
  nodes.hearBy({ own, hear })
  let { wakes } = ownNode.held
  ownNode.onHeld.push((held) => {
    if (held.wakes === wakes) return
    wakes = held.wakes
    hear({ retry: [], jobs: ['expand', 'automate', 'keepSegments'] })
  })
}

const dutyOf = { expand: 'expand', automate: 'automate', keepSegments: 'segments' } as const
