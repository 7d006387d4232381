import { shownCount } from '../amounts/index.js'
import type { Overview } from '../doctor/index.js'
import { listNodes, type NodeStanding } from '../nodes/index.js'
import type { Read } from '../store/index.js'
import { askAppliance, overviewMs } from './ask.js'
import { sayTable, visibleLine } from './output.js'
import { type CommandPlace, databaseOf } from './place.js'

/** A node other than the one that is asked, and its answer about itself. */
export interface NodeBeside {
  name: string
  state: NodeStanding['state']
  queued: number
  overview: Overview | undefined
  /** Why nothing is known of the node but the database's record. */
  unheard: string | undefined
}

/** The answers of the nodes on other machines; none if an appliance is alone. */
export async function askOthers(
  place: CommandPlace,
  { read, own }: { read: Read; own: string },
): Promise<NodeBeside[]> {
  if (databaseOf(place).url === undefined) return []
  const nodes = await listNodes(read, { isFile: false })
  const others = nodes.filter(({ name, state }) => name !== own && state !== 'stopped')
  return await Promise.all(
    others.map(async ({ name, state, queued }): Promise<NodeBeside> => {
      const isThere = state === 'up' || state === 'draining'
      const answer = isThere
        ? await askAppliance(place, { overview: true, node: name }, overviewMs)
        : undefined
      const unheard =
        answer?.unheard ?? (answer || !isThere ? undefined : 'no appliance answers here')
      return { name, state, queued, overview: answer?.overview, unheard }
    }),
  )
}

/** Writes nothing if there is no other node. */
export function sayOthers(others: readonly NodeBeside[]): void {
  if (others.length === 0) return
  const row = ({ name, state, queued, overview, unheard }: NodeBeside) => [
    name,
    state,
    shownCount(queued),
    overview?.rates ? shownCount(overview.rates.hour.delivered) : '-',
    visibleLine(wordsOf(overview, unheard)),
  ]
  sayTable(['OTHER NODE', 'STATE', 'QUEUE', 'DELIVERED IN AN HOUR', 'IT SAYS'], others.map(row), '')
}

function wordsOf(overview: Overview | undefined, unheard: string | undefined): string {
  if (overview === undefined) return unheard === undefined ? '-' : `not known: ${unheard}`
  const wrong = [...overview.unhealthy, ...overview.unready].map(({ says }) => says)
  return wrong.join('; ') || 'healthy, takes mail'
}

/** Others for scripts. */
export const othersInJson = (others: readonly NodeBeside[]) =>
  others.map(({ overview, unheard, ...node }) => ({
    ...node,
    heard: overview !== undefined,
    unheard: unheard ?? null,
    unhealthy: overview?.unhealthy ?? [],
    unready: overview?.unready ?? [],
    rates: overview?.rates ?? null,
  }))
