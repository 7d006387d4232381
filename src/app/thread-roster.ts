import type { ResourceLimits } from 'node:worker_threads'
import type { Config } from '../config/index.js'
import type { HttpsPeers } from './thread-data.js'

/**
 * The kinds of worker threads. They are stopped from the last to the first: each kind outlives those below it, which
 * still need it while they end.
 */
export const kinds = [
  'https',
  // Outlives the threads that deliver to it.
  'sandbox',
  'checkpoint',
  'inbound',
  'outbound',
  // Webhooks that it leaves behind go out after the next start.
  'courier',
  // What it takes in has to leave by the outbound threads.
  'submission',
] as const

export type Kind = (typeof kinds)[number]

/**
 * Who has which turn to write (`store/sqlite/turns.ts`): one slot for each thread that may run at the same time as the
 * others. The ids of their rows differ by the slot too, as far as the threads make mail. The main thread has 0, a
 * command 20.
 */
export const writeSlots = {
  sandbox: 1,
  /** The slot of the thread that is there while automations have something due. */
  automate: 2,
  /** The slot of the first outbound thread; there may be 7 more. */
  outbound: 3,
  inbound: 11,
  courier: 12,
  /** The slot of the thread that is there while campaigns are expanded. */
  expand: 13,
  /** The slot of the calendar's short jobs, which may make mail; one of them runs at a time. */
  shortJob: 14,
  submission: 15,
  // Threads from here on make no mails.
  checkpoint: 16,
  /** The slot of the thread that is there while contacts are imported. */
  import: 17,
  /** The slot of the calendar's long jobs. */
  longJob: 18,
  https: 19,
  /** The slot of the thread that is there while members of segments change; 20 is the commands'. */
  segments: 21,
} as const

interface Role {
  /** How many threads of the kind these settings want. */
  count(wanted: { config: Config; httpsPeers: HttpsPeers }): number
  /** How long a thread may take to end; it is terminated after that. */
  graceMs(config: Config): number
  heap: ResourceLimits
  /** Whether it is handed the operator's rules for mail (`mail-rules.ts`). */
  needsMailRules?: boolean
}

// What a thread may take beyond its own grace to write its last results and close.
const closingMs = 10_000

/**
 * What V8 may take for the heap of a thread. The first number is three times the space of new objects, of which two
 * parts are in use. The second decides how much garbage may pile up among the old ones: with 2 GB or more three times
 * what lives (an outbound thread had 130 MB for 30 that live, Nov 2026), with 1 GB six tenths of it, with 256 MB or
 * less three tenths. It is far more than any thread needs, as a thread that reached it would die: an outbound thread
 * that has a million domains to send to has 400 MB, the checkpoint thread 20.
 */
const heapOf = (maxYoungGenerationSizeMb: number, maxOldGenerationSizeMb: number) => ({
  maxYoungGenerationSizeMb,
  maxOldGenerationSizeMb,
})

/** A kind that has one thread while `isWanted`. */
const one = (heap: ResourceLimits, isWanted: (config: Config) => boolean = () => true): Role => ({
  count: ({ config }) => (isWanted(config) ? 1 : 0),
  graceMs: () => closingMs,
  heap,
})

export const roles: Readonly<Record<Kind, Role>> = {
  https: {
    ...one(heapOf(12, 512)),
    count: ({ httpsPeers }) => (Object.keys(httpsPeers).length > 0 ? 1 : 0),
  },
  sandbox: one(heapOf(12, 1_024), ({ outbound }) => outbound.route === 'sandbox'),
  // Opens and clicks wait there while the storage fails, for 50,000 copies of mails at most.
  checkpoint: one(heapOf(6, 512)),
  inbound: {
    ...one(heapOf(24, 1_024), ({ inbound }) => inbound.enabled),
    needsMailRules: true,
  },
  outbound: {
    count: ({ config }) => config.outbound.threads,
    graceMs: ({ outbound }) => outbound.shutdownGrace + closingMs,
    heap: heapOf(24, 768),
    needsMailRules: true,
  },
  courier: one(heapOf(12, 512)),
  submission: one(heapOf(24, 1_024), ({ submission }) => submission.enabled),
}
