import { type Clock, repeat } from '../../clock/index.js'
import { type Backlog, handOver, type StreamKey } from '../../deliveries/index.js'
import { messageOf } from '../../errors/index.js'
import { type Log, makeSeldom } from '../../log/index.js'
import { type AddressOwner, ownersOf, wakeNodes } from '../../nodes/index.js'
import { queueClass, type Store } from '../../store/index.js'
import type { EgressPool } from './pools.js'

/**
 * Mail whose pool has only addresses of other nodes. Where one of these nodes is alive, the mail is handed over to
 * it.
 */
export interface PoolsElsewhere<S> {
  /**
   * Why the mail does not leave from here; undefined: it leaves from the pool or, where that has no address, from
   * any.
   */
  of(stream: S, pool: EgressPool): string | undefined
  close(): Promise<void>
}

/** A stream, and the name of its lane. */
export interface MovedStream extends Omit<StreamKey, 'lane'> {
  lane: { name: string }
}

interface Deps {
  store: Pick<Store, 'read' | 'byRow' | 'node'>
  clock: Clock
  log: Log
  backlog: Pick<Backlog, 'change'>
}

interface Hooks<S> {
  /** The addresses belong to other nodes than before, or one of the nodes has gone or come. */
  onChange: () => void
  /** Nothing of the stream waits here any more. */
  onMoved: (stream: S) => void
}

const lookEveryMs = 2_000
const moveEveryMs = 250

/** Looks every two seconds which nodes have the addresses; where no pool is elsewhere it costs nothing. */
export async function makePoolsElsewhere<S extends MovedStream>(
  { store, clock, log, backlog }: Deps,
  pools: readonly EgressPool[],
  { onChange, onMoved }: Hooks<S>,
): Promise<PoolsElsewhere<S>> {
  const addresses = pools.flatMap(({ elsewhere }) => elsewhere?.addresses ?? [])
  if (addresses.length === 0) return { of: saysNowhere, close: async () => {} }
  const seldom = makeSeldom(clock)
  let owners = await ownersOf(store.read, addresses)
  const look = async () => {
    const before = JSON.stringify([...owners])
    owners = await ownersOf(store.read, addresses)
    if (JSON.stringify([...owners]) !== before) onChange()
  }
  const toMove = new Map<S, AddressOwner>()
  const move = async () => {
    const streams = [...toMove]
    toMove.clear()
    const epochs = new Set<number>()
    for (const [stream, { number, epoch }] of streams) {
      const key = { lane: stream.lane.name, class: stream.class, accountId: stream.accountId }
      const moved = await handOver(store, key, number)
      backlog.change(-moved)
      if (moved > 0) epochs.add(epoch)
      onMoved(stream)
    }
    await wakeNodes(store, [...epochs])
  }
  const tell = (error: unknown) =>
    seldom(() =>
      log.error(
        { cause: messageOf(error) },
        'Mail of pools of other nodes could not be handed over',
      ),
    )
  const repeated = (work: () => Promise<void>, everyMs: number) =>
    repeat(clock, async () => {
      await work().catch(tell)
      return everyMs
    })
  const loops = [repeated(look, lookEveryMs), repeated(move, moveEveryMs)]
  return {
    of(stream, { name, elsewhere }) {
      if (elsewhere === undefined) return undefined
      const known = elsewhere.addresses.flatMap((address) => owners.get(address) ?? [])
      const living = known.find(({ isAlive }) => isAlive)
      if (living !== undefined) {
        toMove.set(stream, living)
        return `The addresses of the pool ${name} are those of the node ${living.node}, which takes this mail over`
      }
      return whenAway(stream, name, elsewhere, known)
    },
    async close() {
      for (const loop of loops) await loop.stop()
    },
  }
}

/** An appliance with one node has no pool elsewhere; a pool that has lost all of its addresses belongs to no node. */
const saysNowhere = (stream: MovedStream, { name, elsewhere }: EgressPool) =>
  elsewhere && whenAway(stream, name, elsewhere, [])

function whenAway(
  { class: of }: MovedStream,
  name: string,
  { whenAway: how }: NonNullable<EgressPool['elsewhere']>,
  owners: readonly AddressOwner[],
): string | undefined {
  const usual = of === queueClass.transactional ? 'any' : 'wait'
  if ((how ?? usual) === 'any') return undefined
  const of1 = [...new Set(owners.map(({ node }) => node))].join(', ')
  const whose = of1 === '' ? 'no node' : `${of1}, which is gone`
  return `The addresses of the pool ${name} are those of ${whose}; it waits for them (when_away of the pool)`
}
