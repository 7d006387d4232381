import { adopt, type StreamDue } from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import { adoptSpooled } from '../inbound/index.js'
import {
  countTakenOver,
  type DutyName,
  dutyNames,
  endSilent,
  fileHashes,
  giveBackDuty,
  type LeavingNode,
  leaseMs,
  nodeNames,
  nodesThatLeave,
  othersThan,
  recordsOfOthers,
  setFileHashes,
  shareDuties,
} from '../nodes/index.js'
import { findOrphans, settleOrphans } from '../notices/index.js'
import { adoptReceived } from '../receiving/index.js'
import { noteOthers } from '../store/index.js'
import { comparedFiles } from './files.js'
import type { Ground } from './ground.js'
import type { Chore } from './housekeeping.js'
import { rateChores } from './rates.js'
import type { Tools, Work } from './work.js'

// Mail of a node that is gone leaves within its lease and two seconds.
const lookEveryMs = 1_000
// One duty moves at a time.
const shareEveryMs = 1_000

/** What begins and ends with a duty. */
export interface DutyHooks {
  taken(name: DutyName): Promise<void>
  /** Resolves when nothing of the duty is under way here any more. */
  left(name: DutyName): Promise<void>
}

/** What an appliance does for others over the same database; nothing where that is a file. */
export function severalChores(
  ground: Ground,
  work: Pick<Work, 'crew' | 'backlog' | 'ring'> & Pick<Tools, 'imports'>,
  hooks: DutyHooks,
): Chore[] {
  if (!ground.ownNode.isOnServer) return []
  // At once: whoever waits for a node to drain goes by its sign of life.
  ground.ownNode.onHeld.push(({ isDraining }) => work.backlog.setDraining(isDraining))
  const leases = watchLeases(ground)
  const mayJudge = watchReach(ground)
  return [
    {
      name: 'nodes that are gone',
      of: 'node',
      everyMs: lookEveryMs,
      run: leases.whenAnew(async (signal) => {
        if (mayJudge()) await endOthers(ground)
        return await takeOver(ground, work, signal)
      }),
    },
    ...rateChores(ground, ground.counts),
    ...(ground.ownNode.joins ? joiningChores(ground, leases, hooks) : []),
  ]
}

function joiningChores(ground: Ground, leases: Leases, hooks: DutyHooks): Chore[] {
  const duties = dutiesChore(ground, hooks)
  return [
    recordsChore(ground),
    { ...duties, run: leases.whenAnew(duties.run) },
    filesChore(ground),
    orphansChore(ground),
  ]
}

type Leases = ReturnType<typeof watchLeases>

/**
 * What depends on how the nodes stand is looked at when that may have changed: by the signs of life of this node, which
 * see the others'; after commits; and once the lease of a node is over that has given no other sign.
 */
function watchLeases({ store, ownNode }: Pick<Ground, 'store' | 'ownNode'>) {
  let overAt = performance.now() + ownNode.held.others.leaseLeftMs
  ownNode.onHeld.push(({ others }) => {
    overAt = performance.now() + others.leaseLeftMs
  })
  const seen = () => {
    const { others, isDraining } = ownNode.held
    return `${store.commits()} ${others.standing} ${isDraining}`
  }
  return {
    whenAnew(look: Chore['run']): Chore['run'] {
      let last: string | undefined
      return async (signal: AbortSignal) => {
        const now = seen()
        if (last === now && performance.now() < overAt) return
        last = undefined
        if ((await look(signal)) === undefined) last = now
      }
    },
  }
}

/**
 * Whether the database has answered this node for as long as a lease, without a gap of that length. When it comes back
 * after a failover the lease of every node is over: whoever reaches it first must not take the others for dead, or
 * what they have sent meanwhile would be sent again.
 */
function watchReach({ ownNode }: Pick<Ground, 'ownNode'>) {
  let lastAt = performance.now()
  let since = lastAt
  ownNode.onHeld.push(() => {
    const now = performance.now()
    if (now - lastAt > leaseMs) since = now
    lastAt = now
  })
  return () => {
    const now = performance.now()
    return now - lastAt < leaseMs && now - since > leaseMs
  }
}

/** Pages and answers also show what the other nodes want in the DNS. */
const recordsChore = ({ store, others, ownNode }: Ground): Chore => ({
  name: 'records of the other nodes',
  of: 'node',
  everyMs: 10_000,
  rests: true,
  async run() {
    others.splice(0, others.length, ...(await recordsOfOthers(store.read, ownNode.held.name)))
  },
})

/** Settles notices of machines that nobody looks at any more. */
export const orphansChore = ({ store, clock }: Pick<Ground, 'store' | 'clock'>): Chore => ({
  name: 'notices of nodes that were forgotten',
  of: 'chores',
  everyMs: 10_000,
  rests: true,
  async run() {
    const names = [...(await nodeNames(store.read)).values()]
    // A transaction for nothing would have the others look for what it has changed.
    if ((await findOrphans(store.read, names)).length === 0) return
    await store.write((tx) => settleOrphans(tx, { names, now: clock.now() }))
  },
})

/** Tells the others which rule files this node goes by, so that a difference is seen. */
function filesChore({ store, dataDir, ownNode }: Ground): Chore {
  const look = () => fileHashes(comparedFiles(dataDir))
  let told = JSON.stringify(look())
  return {
    name: 'rule files',
    of: 'node',
    everyMs: 60_000,
    async run() {
      const files = look()
      const now = JSON.stringify(files)
      if (now === told) return
      await setFileHashes(store, ownNode.held, files)
      told = now
    },
  }
}

async function endOthers({ store, log, ownNode }: Ground): Promise<void> {
  for (const name of await endSilent(store, ownNode.held))
    log.warn({ node: name }, 'A node has given no sign of life for 10 seconds: others take over')
}

async function takeOver(
  { store, clock, log, land, config, ownNode }: Ground,
  {
    crew,
    backlog,
    ring,
    imports,
  }: Pick<Work, 'crew' | 'backlog' | 'ring'> & Pick<Tools, 'imports'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (ownNode.held.isDraining) return undefined
  const { leaving, rank, of } = await nodesThatLeave(store)
  const takeFrom = async (node: LeavingNode) => {
    const onTaken = (due: readonly StreamDue[]) => {
      backlog.change(due.length)
      ring(due)
    }
    const how = { rank, of, spares: node.isDraining, signal, onTaken }
    let deliveries = 0
    for (let more = node.hasQueue; more && !signal.aborted; ) {
      const taken = await adopt({ store, clock, land }, node, how)
      deliveries += taken
      more = taken > 0
    }
    if (
      node.hasSpool &&
      config.inbound.enabled &&
      (await adoptSpooled(store, clock, node.number)) + (await adoptReceived(store, node.number)) >
        0
    )
      crew.readSpoolAnew()
    if (node.hasImports) await imports.adopt(node.number)
    if (deliveries === 0) return
    await countTakenOver(store, node, deliveries)
    log.warn({ node: node.name, deliveries }, 'Mail of another node was taken over')
  }
  for (const node of leaving) await takeFrom(node)
  // Rows that somebody has in a transaction were left out.
  return leaving.length > 0 ? again : undefined
}

// At the next turn, whoever commits.
const again = 0

/** Shares the duties among the nodes, and begins and ends here what they are about. */
export function dutiesChore(
  {
    store,
    turns,
    log,
    ownNode,
  }: Pick<Ground, 'store' | 'turns' | 'log'> & { ownNode: Pick<Ground['ownNode'], 'held'> },
  hooks: DutyHooks,
): Chore {
  let wasOff = false
  const sayClock = (offMs: number | undefined) => {
    const isOff = offMs !== undefined
    if (isOff && !wasOff)
      log.warn(
        { aheadMs: offMs },
        "The clock of this node is more than 5 seconds off the database's: it does nothing for all until it is right",
      )
    else if (wasOff && !isOff) log.info({}, "The clock of this node is as the database's again")
    wasOff = isOff
  }
  const here = new Set<DutyName>()
  /** Duties that end here, and that the others may have once that is over. */
  const leaving = new Map<DutyName, Promise<void>>()
  const tell = () => noteOthers(turns, othersThan([...here]))
  const leave = (name: DutyName) => {
    here.delete(name)
    tell()
    const gone = hooks
      .left(name)
      .catch((error: unknown) => log.error({ cause: messageOf(error), duty: name }, 'A duty ends'))
      .then(() => giveBackDuty(store, ownNode.held, name))
      .catch((error: unknown) =>
        log.warn({ cause: messageOf(error), duty: name }, 'A duty could not be given back'),
      )
      .finally(() => leaving.delete(name))
    leaving.set(name, gone)
  }
  return {
    name: 'duties',
    of: 'node',
    everyMs: shareEveryMs,
    async run() {
      const { own, tooMany, clockOffMs } = await shareDuties(store, ownNode.held)
      sayClock(clockOffMs)
      // Others have them already: this node drains, or its clock is off.
      for (const name of [...here]) if (!own.includes(name)) leave(name)
      const taken = own.filter((name) => !here.has(name) && !leaving.has(name))
      for (const name of taken) here.add(name)
      tell()
      for (const name of taken) {
        log.info({ duty: name }, 'This node does for all from now on what the duty says')
        await hooks.taken(name)
      }
      // The last ones first, one at a time: another node has to be there for each.
      const least =
        tooMany > leaving.size ? dutyNames.findLast((name) => here.has(name)) : undefined
      if (least !== undefined) leave(least)
      return leaving.size > 0 ? again : undefined
    },
  }
}
