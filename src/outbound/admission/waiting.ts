import type { StreamKey } from '../../deliveries/index.js'
import { type QueueClass, queueClass } from '../../store/index.js'
import type { Held, SiteName } from '../shaping/index.js'
import type { DeliverySlots } from './delivery-slots.js'

/* What waits: streams of deliveries, the lanes that they are for, the paths at which they stand in line. */

/**
 * What one account has waiting for one lane in one class.
 *
 *   idle ──note──▶ later ──its time──▶ due: at a path, or until its lane's site is known, nowhere
 *     ▲              ▲                  │
 *     └── claimed empty: nothing / next due
 */
export interface Stream {
  readonly lane: Lane
  readonly class: QueueClass
  readonly accountId: string
  state: 'idle' | 'later' | 'due'
  /** When it next has to be looked at, while `later`. */
  dueAt: number
  /** The earliest time noted while a claim was under way: the claim may not have seen that row. */
  notedAt: number | undefined
  claiming: boolean
  /** True while its lane's site has to be looked up before the stream stands anywhere. */
  awaitsSite: boolean
  /** Where it stands in line while `due`. */
  path: Path | undefined
}

/**
 * A recipient domain that has, or had a short while ago, mail waiting. There may be a hundred thousand, so its times are
 * in seconds, which V8 keeps in the object itself.
 */
export interface Lane {
  readonly name: string
  /** For `lane-streams.ts` alone. */
  streams: Stream | Map<string, Stream> | undefined
  /** The site of its mail, where it was looked up, and when that was. */
  site: SiteName | undefined
  /** The server that its mail last connected to, or will first (`serverOf`). */
  server: string | undefined
  routedSecond: number
  usedSecond: number
}

export const secondOf = (ms: number) => Math.floor(ms / 1_000)

/** For queues of what is to be done later. */
export const earliestFirst = (a: { at: number }, b: { at: number }): number => a.at - b.at

/** In the order in which they are served. */
export const classes: readonly QueueClass[] = [
  queueClass.transactional,
  queueClass.automation,
  queueClass.campaign,
]

/** The key by which the queue knows the stream. */
export const keyOf = ({ lane, class: of, accountId }: Stream): StreamKey => ({
  lane: lane.name,
  class: of,
  accountId,
})

/** Streams by account, both in turn. */
export type StreamsByAccount = Map<string, Set<Stream>>

/** The way from one pool of source addresses to one site, and who stands in line there. */
export interface Path {
  readonly key: string
  /** The key of the path's site: what ends there makes room for all paths to it. */
  readonly site: string
  readonly slots: DeliverySlots
  /** Due streams by class and account; both the accounts and the streams of each in turn. */
  readonly due: Record<QueueClass, StreamsByAccount>
  /** Why nothing of the class may start; undefined while it stands in line. */
  readonly held: Record<QueueClass, Held | undefined>
}
