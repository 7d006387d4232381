import type { Command } from 'commander'
import { listWaiting } from '../deliveries/index.js'
import { OperatorError } from '../errors/index.js'
import { nodeNames } from '../nodes/index.js'
import type { Scope, ShownScope } from '../outbound/index.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type CliDeps, withStore } from './database.js'
import { jsonTime, remark, say, sayFields, sayJson, sayTable, shownTime } from './output.js'
import { type CommandPlace, placeOf, settingsOf } from './place.js'
import { readableShaping, routeOf } from './shaping.js'

const soon = 'A running appliance does so within seconds'
// Only the outbound threads know whether a smart host takes mail, so the command points to the log
// instead of guessing.
const atLog = "'Failover: the smart host takes no mail' in the log tells which does not, and why"
const sites = `A site is named as in 'posthorn failover status' and 'posthorn shaping show'; a recipient domain
will do, too.`

/** `posthorn failover`: the smart host, as it is used and as the operator orders it. */
export function failoverCommands(program: Command): void {
  const failover = program
    .command('failover')
    .description('the way by the smart hosts: what goes by it, and why')
  addCommands(failover, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'status',
    isDefault: true,
    about: 'show which mail goes by the smart hosts, since when and why',
    help: 'Example:\n  $ posthorn failover status',
    run: runStatus,
  },
  {
    usage: 'force [site]',
    about: "send all mail, or a site's, by the smart hosts until 'failover auto'",
    help: `Example:\n  $ posthorn failover force google\n\n${sites}`,
    run: runForce,
  },
  {
    usage: 'forbid',
    about: "send all mail the primary way, whatever happens, until 'failover auto'",
    help: 'Example:\n  $ posthorn failover forbid',
    run: runForbid,
  },
  {
    usage: 'auto [site]',
    about: 'end the order: the appliance chooses again, beginning with the primary way',
    help: `Example:
  $ posthorn failover auto

It also ends what goes by the smart hosts on evidence: use it when the incident is over. If it is not,
mail goes back to them in a few minutes. Without a site it ends all orders, those for sites too.`,
    run: runAuto,
  },
]

/**
 * The outbound threads keep the scopes in the database, so the command answers even while no
 * appliance runs.
 */
async function runStatus(_options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const { smartHosts } = settingsOf(place).outbound.failover
  const { atNodes, everything, readAllScopes, wayInWords } = await import('../outbound/index.js')
  const { scopes, nodes, now } = await withStore(place, async ({ store, clock }) => ({
    scopes: await readAllScopes(store.read),
    nodes: await nodeNames(store.read),
    now: clock.now(),
  }))
  const all = scopes.find(({ scope }) => scope === everything)
  const others = scopes.filter(({ scope }) => scope !== everything)
  const names = smartHosts.map(({ host, port, tls }) => `${host} port ${port} (${tls})`)
  if (place.json) {
    return sayJson({
      smartHosts: smartHosts.map(({ host, port, tls }) => ({ host, port, tls })),
      everything: all === undefined ? null : forMachines(all, nodes),
      sites: others.map((one) => forMachines(one, nodes)),
    })
  }
  sayFields({
    'Smart hosts': names.join(', ') || 'none: there is only the primary way',
    'All mail':
      all === undefined ? 'the primary way' : `${wayInWords(all, now)}${atNodes(all, nodes)}`,
    ...(smartHosts.length > 0 && { 'Do they work': atLog }),
  })
  if (others.length === 0) return
  say()
  const row = (scope: ShownScope) => [
    scope.scope,
    shownTime(scope.since || null),
    `${wayInWords(scope, now, all?.orders)}${atNodes(scope, nodes)}`,
  ]
  sayTable(['SITE', 'SINCE', 'WAY'], others.map(row), '')
}

/**
 * An order lasts until `failover auto`, across restarts. An unknown site is taken too, as mail may
 * not have gone there yet; a remark says so, in case it is misspelt.
 */
async function runForce(
  site: string | undefined,
  _options: unknown,
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  requireSmartHost(place)
  // Sites are kept in lower case: host names have no case (RFC 4343 §2).
  const scope = site?.toLowerCase()
  await order(command, ({ store, clock }, { everything, orderScope }) =>
    store.write((tx) => orderScope(tx, scope ?? everything, 'force', clock.now())),
  )
  if (scope !== undefined && !(await isKnown(place, scope))) {
    remark(`note: "${scope}" is not a site or domain that is known here: is it misspelt?`)
  }
  if (place.json) return
  say(`${site === undefined ? 'All mail' : `Mail to ${site}`} goes by the smart hosts. ${soon}`)
  remark("What waits keeps its next time; 'posthorn queue retry' brings it forward")
}

/** Only for all mail at once: nobody has named a use for forbidding it for a single site. */
async function runForbid(_options: unknown, command: Command): Promise<void> {
  await order(command, ({ store, clock }, { everything, orderScope }) =>
    store.write((tx) => orderScope(tx, everything, 'forbid', clock.now())),
  )
  if (!placeOf(command).json) say(`Nothing goes by the smart hosts. ${soon}`)
}

/**
 * Deletes the evidence too, so that all mail begins at the primary way: whoever gives this order
 * knows that the incident is over.
 */
async function runAuto(
  site: string | undefined,
  _options: unknown,
  command: Command,
): Promise<void> {
  let forgotten: Scope[] = []
  await order(command, async ({ store }, { leaveToEvidence }) => {
    forgotten = await store.write((tx) => leaveToEvidence(tx, site?.toLowerCase()))
  })
  if (placeOf(command).json) return
  say(`${site === undefined ? 'All mail' : `Mail to ${site}`} goes the primary way. ${soon}`)
  for (const { scope, orders, way, why } of forgotten) {
    const ended = orders === 'auto' ? '' : `the order to ${orders}`
    const past = way === 'failover' ? `the evidence: ${why}` : ''
    const what = [ended, past].filter((part) => part !== '').join(', and ')
    if (what !== '') remark(`Forgotten of ${scope === '*' ? 'all mail' : scope}: ${what}`)
  }
}

/** Changes the state and, for machines, answers with it. */
async function order(
  command: Command,
  change: (deps: CliDeps, egress: typeof import('../outbound/index.js')) => Promise<void>,
): Promise<void> {
  const place = placeOf(command)
  const scopes = await withStore(place, async (deps) => {
    // Only here, as all of outbound comes along.
    const egress = await import('../outbound/index.js')
    await change(deps, egress)
    return await egress.readAllScopes(deps.store.read)
  })
  if (place.json) sayJson(scopes.map((one) => forMachines(one, new Map())))
}

/**
 * Without a smart host an order would be kept silently, and would take effect when one is set up
 * later.
 */
function requireSmartHost(place: CommandPlace): void {
  if (settingsOf(place).outbound.failover.smartHosts.length > 0) return
  throw new OperatorError(
    'There is no smart host; [[outbound.failover.smart_hosts]] of the settings names one',
  )
}

/** Whether mail may go to it: a site that was mailed or is shaped, or a domain. */
async function isKnown(place: CommandPlace, scope: string): Promise<boolean> {
  const { readLearned } = await import('../outbound/index.js')
  const { data } = await readableShaping(place)
  if (data.providers.has(scope)) return true
  const waits = await withStore(place, async ({ store: { read } }) => {
    const learned = await readLearned(read, scope)
    return learned.length > 0 || (await listWaiting(read, { lane: scope }, 1)).length > 0
  })
  return waits || (await routeOf(place, scope)).kind !== 'nxdomain'
}

/** A scope for scripts; `relapses` is left out: it is the threads' own count. */
const forMachines = (
  { since, until, relapses: _, node: _node, nodes, ...scope }: ShownScope,
  names: ReadonlyMap<number, string>,
) => ({
  ...scope,
  since: jsonTime(since || null),
  until: jsonTime(until || null),
  ...(names.size > 1 && { nodes: nodes.map((node) => names.get(node) ?? String(node)) }),
})
