import { counted } from '../amounts/index.js'
import { shownFor } from '../clock/index.js'
import { nameBesideOthers } from '../config/index.js'
import { isClockOff, listNodes, mostCounted, type NodeStanding } from '../nodes/index.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'

/** What the database knows of the other nodes; each node examines its own machine. */
export async function checkNodes({
  read,
  config,
}: Pick<DoctorDeps, 'read' | 'config'>): Promise<Finding[]> {
  const own = nameBesideOthers(config)
  if (own === undefined) return []
  const nodes = await listNodes(read, { isFile: false })
  return nodes.filter(({ name }) => name !== own).map(findingOf)
}

function findingOf(node: NodeStanding): Finding {
  const { name, state, queued, clockAheadMs, silentMs } = node
  const of = findingsOf('nodes', name)
  const waits = `${queued > mostCounted ? `over ${mostCounted}` : counted(queued, 'delivery', 'deliveries')} at it`
  switch (state) {
    case 'lost':
      return of.fail(
        `it is gone, with ${waits}`,
        `systemctl status posthorn, on ${name}; posthorn node forget ${name}, where it does not come back`,
      )
    case 'stopped':
      return of.ok(`it was stopped, with ${waits}`)
    case 'silent':
      return of.warn(
        `no sign of life for ${shownFor(silentMs ?? 0)}: the others take over`,
        `systemctl status posthorn, on ${name}`,
      )
    default:
      return isClockOff(clockAheadMs)
        ? of.warn(
            `its clock is ${shownFor(Math.abs(clockAheadMs))} ${clockAheadMs > 0 ? 'ahead of' : 'behind'} the database's`,
            `timedatectl, on ${name}`,
          )
        : of.ok(`it is ${state}, with ${waits}; 'posthorn doctor' on ${name} looks at its machine`)
  }
}
