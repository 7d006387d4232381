import { databaseClock, type Read } from '../store/index.js'
import { type DutyName, dutyNames } from './duties.js'
import { type FileHashes, readHashes } from './files.js'
import { leaseMs } from './lease.js'

/** A node's state, for overviews of all nodes. */
export interface NodeStanding {
  name: string
  number: number
  epoch: number
  /** How many signs of life it has given; with each it learns whether it shall drain. */
  beat: number
  version: string
  /**
   * `up`; `draining`: it gives up its mail and takes none; `silent`: its lease has ended, and nobody has taken over
   * yet; `lost`: others took it for dead; `stopped`: it ended by itself; `file`: its database is a file, which it alone
   * has.
   */
  state: 'up' | 'draining' | 'silent' | 'lost' | 'stopped' | 'file'
  /** Whether it works beside others. */
  joins: boolean
  /** How long it has given no sign of life, in milliseconds; null if its database is a file. */
  silentMs: number | null
  startedAt: number
  goneAt: number | null
  /** Deliveries that wait at it, counted up to one above `mostCounted`. */
  queued: number
  duties: DutyName[]
  /** Its weight among the others, for its share of the duties. */
  weight: number
  clockAheadMs: number
  takenOver: number
  /** The hashes of the operator's rule files on it. */
  files: FileHashes
}

/** For commands and pages: how many deliveries of a node are counted. */
export const mostCounted = 100_000

/**
 * All nodes that the database knows, by their numbers. `isFile`: there is one, whose row says who started last;
 * without `counts` their waiting deliveries are not counted.
 */
export async function listNodes(
  read: Read,
  { isFile, counts = true }: { isFile: boolean; counts?: boolean },
): Promise<NodeStanding[]> {
  const rows = await read
    .selectFrom('nodes')
    .selectAll()
    .select((eb) => eb(databaseClock, '-', eb.ref('held_until')).as('past_ms'))
    .orderBy('number')
    .execute()
  const duties = await read.selectFrom('duties').select(['name', 'epoch']).execute()
  return await Promise.all(
    rows.map(async (row): Promise<NodeStanding> => {
      const own = duties.filter(({ epoch }) => epoch === row.epoch).map(({ name }) => name)
      return {
        name: row.name,
        number: row.number,
        epoch: row.epoch,
        beat: row.beat,
        version: row.version,
        state: isFile ? 'file' : stateOf(row),
        joins: row.joins === 1,
        silentMs: isFile ? null : Math.max(0, row.past_ms + leaseMs),
        startedAt: row.started_at,
        goneAt: row.gone_at,
        queued: counts ? await countQueued(read, row.number) : 0,
        // A single appliance has all duties, without rows about them.
        duties: row.joins === 1 ? dutyNames.filter((name) => own.includes(name)) : [...dutyNames],
        weight: row.weight,
        clockAheadMs: row.clock_ahead_ms,
        takenOver: row.taken_over,
        files: readHashes(row.files),
      }
    }),
  )
}

/** The files that differ between the nodes that are there. */
export function differingFiles(nodes: readonly NodeStanding[]): string[] {
  const there = nodes.filter(
    ({ state, joins }) => joins && (state === 'up' || state === 'draining'),
  )
  const names = new Set(there.flatMap(({ files }) => Object.keys(files)))
  return [...names].filter((name) => new Set(there.map(({ files }) => files[name])).size > 1).sort()
}

/** All names that the database knows, by their numbers. */
export async function nodeNames(read: Read): Promise<Map<number, string>> {
  const rows = await read.selectFrom('nodes').select(['number', 'name']).execute()
  return new Map(rows.map(({ number, name }) => [number, name]))
}

function stateOf(row: {
  gone_at: number | null
  ended_well: number
  past_ms: number
  draining: number
}): NodeStanding['state'] {
  if (row.gone_at !== null) return row.ended_well === 1 ? 'stopped' : 'lost'
  if (row.past_ms > 0) return 'silent'
  return row.draining === 1 ? 'draining' : 'up'
}

async function countQueued(read: Read, node: number): Promise<number> {
  const some = read
    .selectFrom('queue')
    .select('id')
    .where('node', '=', node)
    .limit(mostCounted + 1)
    .as('some')
  const { n } = await read
    .selectFrom(some)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}
