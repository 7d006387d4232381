import type { QueueClass } from '../../store/index.js'
import type { Lane, Stream } from './waiting.js'

/*
 * The streams of a lane. Nearly every lane has one, which needs no Map: with a million deliveries to 100,000 domains a
 * Map each and its keys were 25 of the 107 MB that lived in the thread (26 Nov 2026).
 */

export function findStream({ streams }: Lane, of: QueueClass, accountId: string) {
  if (streams instanceof Map) return streams.get(nameOf(of, accountId))
  return streams?.class === of && streams.accountId === accountId ? streams : undefined
}

export const streamsOf = ({ streams }: Lane): Iterable<Stream> =>
  streams instanceof Map ? streams.values() : streams === undefined ? [] : [streams]

export function addStream(lane: Lane, stream: Stream): void {
  const { streams } = lane
  if (streams === undefined) lane.streams = stream
  else if (streams instanceof Map) streams.set(keyIn(stream), stream)
  else lane.streams = new Map([streams, stream].map((one) => [keyIn(one), one]))
}

export function removeStream({ lane, class: of, accountId }: Stream): void {
  const { streams } = lane
  if (!(streams instanceof Map)) {
    if (findStream(lane, of, accountId) !== undefined) lane.streams = undefined
    return
  }
  streams.delete(nameOf(of, accountId))
  if (streams.size === 0) lane.streams = undefined
}

/** The key of a stream within its lane. */
const nameOf = (of: QueueClass, accountId: string) => `${of} ${accountId}`
const keyIn = ({ class: of, accountId }: Stream) => nameOf(of, accountId)
