import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { type QueueClass, queueClass } from '../store/index.js'
import { classes, type Lane, type Stream } from './lanes.js'
import type { FindRoute, Site } from './route.js'
import { reserveOf } from './shaping/index.js'

/** Finds the sites of lanes that have something due, before anything of theirs is claimed. */
export interface Routing {
  /** Looks for the site of its lane; all streams that came meanwhile are told together. */
  add(stream: Stream): void
  /** Begins look-ups while there is room for them, in the order of classes. */
  pump(isWanted: (of: QueueClass) => boolean): void
  /** True while the stream waits for its lane's site. */
  has(stream: Stream): boolean
}

export interface RoutingOptions {
  findRoute: FindRoute
  log: Log
  onRouted(lane: Lane, site: Site, streams: readonly Stream[]): void
}

// DNS answers take up to seconds: enough at once that few slow ones hold up nobody.
const maxLookups = 64
const again: Site = { key: 'nowhere', provider: undefined, mx: undefined, domain: undefined }

export function makeRouting({ findRoute, log, onRouted }: RoutingOptions): Routing {
  const waiting = new Map<Lane, Set<Stream>>()
  const lines: Record<QueueClass, Set<Lane>> = { 0: new Set(), 1: new Set(), 2: new Set() }
  const underWay = new Set<Lane>()

  const lookUp = async (lane: Lane) => {
    underWay.add(lane)
    for (const of of classes) lines[of].delete(lane)
    const site = await findRoute(lane.name).then(
      (route) => route.site,
      (error: unknown) => {
        // A bug; the attempt meets it again and says so in the delivery's own record.
        log.error({ lane: lane.name, cause: messageOf(error) }, 'A route could not be looked up')
        return again
      },
    )
    underWay.delete(lane)
    const streams = [...(waiting.get(lane) ?? [])]
    waiting.delete(lane)
    onRouted(lane, site, streams)
  }

  return {
    add(stream) {
      const { lane } = stream
      waiting.set(lane, (waiting.get(lane) ?? new Set()).add(stream))
      if (!underWay.has(lane)) lines[stream.class].add(lane)
    },
    pump(isWanted) {
      for (const of of classes) {
        const most = maxLookups - (of === queueClass.transactional ? 0 : reserveOf(maxLookups))
        for (const lane of lines[of]) {
          if (underWay.size >= most || !isWanted(of)) break
          void lookUp(lane)
        }
      }
    },
    has: (stream) => waiting.get(stream.lane)?.has(stream) === true,
  }
}
