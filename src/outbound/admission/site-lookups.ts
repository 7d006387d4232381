import { messageOf } from '../../errors/index.js'
import type { Log } from '../../log/index.js'
import type { QueueClass } from '../../store/index.js'
import { type FindRoute, isDnsSite, nowhere } from '../routing/index.js'
import { keptFrom, type SiteName } from '../shaping/index.js'
import { streamsOf } from './lane-streams.js'
import { classes, type Lane, type Stream } from './waiting.js'

/** Finds the sites of lanes that have something due, before any of their mail is claimed. */
export interface SiteLookups {
  /** Looks for the site of its lane; all streams that came meanwhile learn it together. */
  add(stream: Stream): void
  /** Begins look-ups while there is room for them, in the order of classes. */
  pump(isWanted: (of: QueueClass, accountId: string) => boolean): void
  /** True while the stream waits for its lane's site. */
  has(stream: Stream): boolean
}

/** What a look-up needs, and whom it tells. */
export interface SiteLookupOptions {
  findRoute: FindRoute
  log: Log
  /** `servers`: its addresses, in their order. */
  onRouted(lane: Lane, site: SiteName, servers: readonly string[], streams: readonly Stream[]): void
}

// A DNS answer may take seconds. With so many look-ups at once, a few slow ones hold up nobody.
const maxLookups = 64
// Domains whose DNS failed are asked again behind all others, and never take all look-ups.
const maxFailing = 32

/** Lanes by account, both in turn. */
type LanesInTurn = Map<string, Set<Lane>>

/**
 * A lane's site is known only when its MX records are. Lookups are bounded, and those that have
 * failed before stand in a line of their own: thousand dead domains of a bought list must not hold
 * up the mail to real ones.
 */
export function makeSiteLookups({ findRoute, log, onRouted }: SiteLookupOptions): SiteLookups {
  const lines = { known: makeLines(), fresh: makeLines(), failing: makeLines() }
  const underWay = new Set<Lane>()
  let failing = 0

  const lineOf = ({ site }: Lane) =>
    site === undefined ? lines.fresh : isDnsSite(site.key) ? lines.failing : lines.known

  const lookUp = async (lane: Lane) => {
    const isRetry = lineOf(lane) === lines.failing
    if (isRetry) failing++
    underWay.add(lane)
    for (const stream of waitingOf(lane)) {
      for (const line of Object.values(lines)) remove(line[stream.class], stream)
    }
    const { site, hosts } = await findRoute(lane.name).then(
      (route) => ({ site: route.site, hosts: 'hosts' in route ? route.hosts : [] }),
      (error: unknown) => {
        // This is a bug; the attempt meets it again and says so in the delivery's own record.
        log.error({ lane: lane.name, cause: messageOf(error) }, 'A route could not be looked up')
        return { site: nowhere, hosts: [] }
      },
    )
    underWay.delete(lane)
    if (isRetry) failing--
    const streams = waitingOf(lane)
    for (const stream of streams) stream.awaitsSite = false
    const servers = hosts.flatMap(({ addresses }) => addresses)
    onRouted(lane, site, servers, streams)
  }

  return {
    add(stream) {
      const { lane } = stream
      stream.awaitsSite = true
      if (underWay.has(lane)) return
      const line = lineOf(lane)[stream.class]
      line.set(stream.accountId, (line.get(stream.accountId) ?? new Set()).add(lane))
    },
    pump(isWanted) {
      for (const of of classes) {
        const most = maxLookups - keptFrom(of, maxLookups)
        const begin = (line: LanesInTurn, mayBegin: (accountId: string) => boolean) => {
          while (underWay.size < most) {
            const lane = nextIn(line, mayBegin)
            if (lane === undefined) return
            if (!underWay.has(lane)) void lookUp(lane)
          }
        }
        const isWantedOf = (accountId: string) => isWanted(of, accountId)
        // A site that was known is in all likelihood still the same, so its mail waits behind nobody's.
        begin(lines.known[of], () => true)
        begin(lines.fresh[of], isWantedOf)
        begin(lines.failing[of], (accountId) => failing < maxFailing && isWantedOf(accountId))
      }
    },
    has: (stream) => stream.awaitsSite,
  }
}

/** Streams that have found their end meanwhile are not among them. */
const waitingOf = (lane: Lane) => [...streamsOf(lane)].filter(({ awaitsSite }) => awaitsSite)

/** By class as well, so that a password reset is looked up before a campaign. */
const makeLines = (): Record<QueueClass, LanesInTurn> => ({
  0: new Map(),
  1: new Map(),
  2: new Map(),
})

/** Takes the first lane of the next account that may; the account goes to the end. */
function nextIn(line: LanesInTurn, may: (accountId: string) => boolean): Lane | undefined {
  for (const [account, lanes] of line) {
    if (!may(account)) continue
    const [lane] = lanes
    line.delete(account)
    if (lane !== undefined) lanes.delete(lane)
    if (lanes.size > 0) line.set(account, lanes)
    return lane
  }
  return undefined
}

/** An account without lanes is taken out, or its turn would come for nothing. */
function remove(line: LanesInTurn, { accountId, lane }: Stream): void {
  const lanes = line.get(accountId)
  lanes?.delete(lane)
  if (lanes?.size === 0) line.delete(accountId)
}
