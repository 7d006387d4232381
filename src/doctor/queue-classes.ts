import { depthUpTo } from '../deliveries/index.js'
import type { Read } from '../store/index.js'
import type { Overview } from './overview.js'

/** The waiting deliveries of one class. */
export interface QueueClassState {
  name: string
  /** A number; `more than 100,000` if no appliance runs that keeps count. */
  waiting: string
  oldestMs: number | null
  /** How long the oldest due mail has waited without being under way; null without one. */
  dueMs: number | null
}

// Rows are counted one by one: a command that counts ten million is no help in an emergency.
export const mostCounted = 100_000

/**
 * How many deliveries of each class wait: by the running appliance's gauges, or counted up to a
 * bound.
 */
export async function readQueueClasses(
  read: Read,
  now: number,
  overview: Overview | undefined,
): Promise<QueueClassState[]> {
  const figures = await readQueueFigures(read, now, overview)
  return figures.map(({ name, deliveries, isLeast, oldestMs, dueMs }) => ({
    name,
    waiting: isLeast ? `${upTo(mostCounted + 1)} in all` : deliveries.toLocaleString('en-GB'),
    oldestMs,
    dueMs,
  }))
}

/** The waiting deliveries of one class, in numbers. */
export interface QueueClassFigures {
  name: string
  deliveries: number
  /** More deliveries wait than were counted. */
  isLeast: boolean
  oldestMs: number | null
  dueMs: number | null
}

/** The same in numbers. */
export async function readQueueFigures(
  read: Read,
  now: number,
  overview: Overview | undefined,
): Promise<QueueClassFigures[]> {
  return overview?.rates ? figuresOf(overview) : await countFigures(read, now)
}

/** A count up to `mostCounted`, in words. */
export const deliveriesInWords = (count: number) =>
  `${upTo(count)} ${count === 1 ? 'delivery' : 'deliveries'}`

/** Counting stops at a bound, as counting millions would take the database seconds. */
const upTo = (count: number) =>
  count > mostCounted
    ? `more than ${mostCounted.toLocaleString('en-GB')}`
    : count.toLocaleString('en-GB')

/** From the gauges of the running appliance, which are kept anyway and cost nothing to read. */
function figuresOf({ series }: Overview): QueueClassFigures[] {
  const gaugeOf = (name: string, of: string) =>
    series.find(({ metricName, labels }) => metricName === name && labels.class === of)?.value ?? 0
  return ['transactional', 'automation', 'campaign'].map((name) => {
    const deliveries = gaugeOf('posthorn_queue_deliveries', name)
    const dueMs = gaugeOf('posthorn_queue_due_seconds', name) * 1_000
    return {
      name,
      deliveries,
      isLeast: false,
      oldestMs: deliveries === 0 ? null : gaugeOf('posthorn_queue_oldest_seconds', name) * 1_000,
      dueMs: dueMs === 0 ? null : dueMs,
    }
  })
}

/** Without a running appliance nobody has counted, so this counts. */
async function countFigures(read: Read, now: number): Promise<QueueClassFigures[]> {
  const { counted, depth } = await depthUpTo(read, mostCounted)
  return Object.entries(depth).map(([name, { deliveries, oldestAt, dueAt }]) => ({
    name,
    deliveries,
    isLeast: counted > mostCounted,
    oldestMs: oldestAt === undefined ? null : now - oldestAt,
    dueMs: dueAt === undefined || dueAt > now ? null : now - dueAt,
  }))
}
