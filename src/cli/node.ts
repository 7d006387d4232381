import { type Command, Option } from 'commander'
import { shownCount } from '../amounts/index.js'
import { pause, shownFor, systemClock } from '../clock/index.js'
import { OperatorError } from '../errors/index.js'
import {
  changeNode,
  differingFiles,
  dutiesInWords,
  listNodes,
  mostCounted,
  type NodeChangeName,
  type NodeStanding,
  nodeChanges,
} from '../nodes/index.js'
import { addCommands, type CommandRow } from './command-row.js'
import { withStore } from './database.js'
import { nodeJoinRows } from './node-join.js'
import { jsonTime, say, sayFields, sayJson, sayTable, shownTime, warn } from './output.js'
import { type CommandPlace, databaseOf, placeOf } from './place.js'

/** `posthorn node`: the appliances over this database. */
export function nodeCommands(program: Command): void {
  const node = program.command('node').description('the appliances over this database')
  addCommands(node, [...rows, ...nodeJoinRows])
}

const change =
  (name: NodeChangeName) =>
  async (node: string, options: { wait?: boolean }, command: Command): Promise<void> =>
    await runChange(name, node, { options, command })

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    isDefault: true,
    about: 'show all nodes: how they are, what waits at them, what they do for all',
    help: 'Example:\n  $ posthorn node list',
    run: runList,
  },
  {
    usage: 'show <name>',
    about: 'show one node',
    help: 'Example:\n  $ posthorn node show mail2',
    run: runShow,
  },
  {
    usage: 'drain <name>',
    about: 'have a node take no new mail, and the others take over what waits at it',
    options: [new Option('--wait', 'return when nothing waits at it any more')],
    help: `Example:
  $ posthorn node drain mail2 --wait

What it has in hand it ends itself. It stays so until 'undrain', or until it is started again.`,
    run: change('drain'),
  },
  {
    usage: 'undrain <name>',
    about: 'have it take mail again',
    help: 'Example:\n  $ posthorn node undrain mail2',
    run: change('undrain'),
  },
  {
    usage: 'fence <name>',
    about: 'have nothing count that a node does, as nobody can reach its machine',
    help: `Example:
  $ posthorn node fence mail2

The others take over at once and do not wait for its lease. It ends as soon as it notices, and joins anew when it is
started; mail that it has in hand at this moment may arrive twice.`,
    run: change('fence'),
  },
  {
    usage: 'forget <name>',
    about: 'drop a node that is gone and does not come back',
    help: 'Example:\n  $ posthorn node forget mail2\n\nIts number is free for another one then.',
    run: change('forget'),
  },
]

const nodesOf = (place: CommandPlace) =>
  withStore(place, ({ store }) =>
    listNodes(store.read, { isFile: databaseOf(place).url === undefined }),
  )

async function runList(_options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const nodes = await nodesOf(place)
  if (place.json) return sayJson(nodes.map(forMachines))
  const row = (node: NodeStanding) => [
    node.name,
    String(node.number),
    node.state,
    node.silentMs === null ? '-' : shownFor(node.silentMs),
    shownQueued(node),
    dutiesOf(node),
    node.version,
  ]
  const heads = ['NODE', 'NUMBER', 'STATE', 'SILENT FOR', 'QUEUE', 'DUTIES', 'VERSION']
  sayTable(heads, nodes.map(row), 'No appliance was ever started over this database')
  const differing = differingFiles(nodes)
  if (differing.length > 0) warn(`the nodes go by different rule files: ${differing.join(', ')}`)
}

async function runShow(name: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const node = (await nodesOf(place)).find((one) => one.name === name)
  if (node === undefined)
    throw new OperatorError(`There is no node ${name}; 'posthorn node list' has them`)
  if (place.json) return sayJson(forMachines(node))
  sayFields({
    Node: `${node.name}, number ${node.number}, epoch ${node.epoch}`,
    State: node.state,
    ...(node.silentMs !== null && { 'Silent for': shownFor(node.silentMs) }),
    Version: node.version,
    Started: shownTime(node.startedAt || null),
    ...(node.goneAt !== null && { Gone: shownTime(node.goneAt) }),
    Queue: shownQueued(node),
    Duties: dutiesOf(node),
    ...(node.joins && { Weight: String(node.weight) }),
    'Beside others': node.joins ? 'yes (node.join)' : 'no',
    ...(node.silentMs !== null && { 'Its clock': shownClock(node) }),
    ...(node.takenOver > 0 && { 'Taken over of it': String(node.takenOver) }),
  })
}

const waitEveryMs = 500

async function runChange(
  name: NodeChangeName,
  node: string,
  { options, command }: { options: { wait?: boolean }; command: Command },
): Promise<void> {
  const place = placeOf(command)
  if (databaseOf(place).url === undefined) {
    throw new OperatorError(
      'The database is a file, which one appliance alone has: there are nodes over a PostgreSQL',
    )
  }
  const found = await withStore(place, async ({ store }) => {
    await store.write((tx) => changeNode(tx, name, node))
    const look = async () => {
      const nodes = await listNodes(store.read, { isFile: false })
      return nodes.find((one) => one.name === node)
    }
    let standing = await look()
    const before = standing?.beat ?? 0
    // Mail that the node takes in before it hears of the order must be taken over too.
    const isToWait = (one: typeof standing) =>
      one?.state === 'draining' && (one.queued > 0 || one.beat <= before)
    while (options.wait && isToWait(standing)) {
      await pause(systemClock, waitEveryMs)
      standing = await look()
    }
    return standing
  })
  if (place.json) return sayJson(found === undefined ? null : forMachines(found))
  say(`${node} ${nodeChanges[name].says}`)
  if (options.wait && found?.queued === 0) say('Nothing waits at it any more')
}

const shownQueued = ({ queued }: NodeStanding) =>
  queued > mostCounted ? `over ${shownCount(mostCounted)}` : shownCount(queued)

const dutiesOf = ({ duties, state }: NodeStanding) =>
  state === 'lost' || state === 'stopped' ? '-' : dutiesInWords(duties).join(', ') || '-'

function shownClock({ clockAheadMs }: NodeStanding): string {
  const off = shownFor(Math.abs(clockAheadMs))
  if (Math.abs(clockAheadMs) < 1_000) return "as the database's"
  return clockAheadMs > 0 ? `${off} ahead of the database's` : `${off} behind the database's`
}

const forMachines = ({ startedAt, goneAt, ...node }: NodeStanding) => ({
  ...node,
  startedAt: jsonTime(startedAt || null),
  goneAt: jsonTime(goneAt),
})
