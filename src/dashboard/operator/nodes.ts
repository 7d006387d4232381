import { enums, object, string } from 'superstruct'
import { shownCount } from '../../amounts/index.js'
import { shownFor } from '../../clock/index.js'
import { ApiError, OperatorError } from '../../errors/index.js'
import {
  changeNode,
  dutiesInWords,
  listNodes,
  mostCounted,
  type NodeChangeName,
  type NodeStanding,
  nodeChanges,
} from '../../nodes/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { OperatorPages } from '../shell/page.js'
import type { Tone } from '../shell/parts.js'
import type { OperatorVisit } from '../shell/visit.js'
import type { OperatorPageDeps } from './deps.js'

const names = Object.keys(nodeChanges) as NodeChangeName[]
const Change = object({ change: enums(names) })

/** `/operator/nodes`: the appliances on this database, and the operator's orders for them; like `posthorn node`. */
export function nodePages(pages: OperatorPages, deps: OperatorPageDeps): void {
  const again = (visit: OperatorVisit, faults: Faults) => nodesPage(deps, visit, faults)
  pages.get('/nodes', 'operator.read', (visit) => nodesPage(deps, visit, noFaults))
  pages.post(
    '/nodes/:name',
    { action: 'operator.write', form: Change, sudo: true, again },
    ({ params, form }) => change(deps, form.change, params.name ?? ''),
  )
  pages.post(
    '/nodes/invite',
    { action: 'operator.write', form: object({ at: string() }), sudo: true, again },
    ({ form }) => invite(deps, form.at.trim()),
  )
}

async function nodesPage(
  { store, config }: OperatorPageDeps,
  { now, may }: OperatorVisit,
  faults: Faults,
): Promise<PageAnswer> {
  const isFile = config.store.url === ''
  const nodes = await listNodes(store.read, { isFile })
  const view = {
    now,
    faults,
    isFile,
    joins: config.node.join,
    mayChange: may('operator.write') && !isFile,
    mayInvite: may('operator.write') && !isFile && config.node.join,
    publicUrl: config.http.public.url,
    nodes: nodes.map((node) => ({
      ...node,
      isThis: node.number === store.node.number,
      tone: toneOf(node),
      silent: node.silentMs === null ? '–' : shownFor(node.silentMs),
      queue:
        node.queued > mostCounted ? `over ${shownCount(mostCounted)}` : shownCount(node.queued),
      duties: dutiesInWords(node.duties).join(', '),
      changes: names
        .filter((name) => nodeChanges[name].of.includes(node.state))
        .map((name) => ({ name, label: nodeChanges[name].label })),
    })),
  }
  return page('operator/nodes', view, { title: 'Nodes', wide: true })
}

/** No log has the code, and it is not shown again. */
async function invite({ running }: OperatorPageDeps, at: string): Promise<PageAnswer> {
  try {
    const { code, left, notHandedOn } = await running.inviteNode(at)
    const view = { command: `sudo posthorn node join '${code}'`, left, notHandedOn }
    return page('operator/node-code', view, {
      title: 'A machine is invited',
      headers: { 'Cache-Control': 'no-store' },
      audit: { action: 'node.invite', target: at },
    })
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    throw new ApiError('validation_error', error.message, { status: 422, fields: { field: 'at' } })
  }
}

const toneOf = ({ state }: NodeStanding): Tone =>
  state === 'up' || state === 'file'
    ? 'good'
    : state === 'lost' || state === 'silent'
      ? 'bad'
      : 'none'

async function change(
  { store, config }: OperatorPageDeps,
  name: NodeChangeName,
  node: string,
): Promise<PageAnswer> {
  if (config.store.url === '')
    throw new ApiError('conflict', 'The database is a file, which one appliance alone has')
  await store.write((tx) => changeNode(tx, name, node))
  return redirect('/operator/nodes', {
    flash: `${node} ${nodeChanges[name].says}`,
    audit: { action: `node.${name}`, target: node },
  })
}
