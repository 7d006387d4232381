import type { LiveGate, RetriedLanes, StreamDue, StreamKey } from '../deliveries/index.js'
import type { OutboundStanding, Reachability, ThreadStanding } from '../outbound/index.js'
import type { Supervised } from './supervise.js'

/** The outbound threads as one. Each lane belongs to one thread, and only that thread can say what is known of it. */
export interface OutboundThreads {
  ring(due: readonly StreamDue[]): void
  /** At which gate a stream's mail stands; undefined when nothing of it is due. */
  gateOf(stream: StreamKey): Promise<LiveGate | undefined>
  /** The sites and accounts that the outbound threads are busy with: each belongs to one thread. */
  standing(): Promise<OutboundStanding>
  /** What each outbound thread has seen of the way out; those that do not answer are left out. */
  contacts(): Promise<Reachability[]>
  /** The operator made mail due: it is to be tried even where a site is suspended. */
  retry(lanes: RetriedLanes): void
}

/** Nobody answers before `begin` brings the threads; rings are kept for them until then. */
export function makeOutboundThreads(): OutboundThreads & {
  begin(started: readonly Supervised[]): void
} {
  let threads: readonly Supervised[] = []
  // Mail that fell due while the threads started: their first look may have been a moment earlier.
  let early: StreamDue[] | undefined = []
  const ring = (due: readonly StreamDue[]) => {
    if (early !== undefined) early.push(...due)
    else for (const thread of threads) thread.send({ kind: 'ring', due })
  }
  const standings = async (): Promise<ThreadStanding[]> => {
    const all = await Promise.all(threads.map((thread) => thread.standing()))
    return all.filter((standing) => standing !== undefined)
  }
  return {
    ring,
    begin(started) {
      const due = early ?? []
      threads = started
      early = undefined
      if (due.length > 0) ring(due)
    },
    async gateOf(stream) {
      const gates = await Promise.all(threads.map((thread) => thread.gateOf(stream)))
      return gates.find((gate) => gate !== undefined)
    },
    async standing() {
      const found = await standings()
      return {
        sites: found.flatMap(({ sites }) => sites),
        accounts: found.flatMap(({ accounts }) => accounts),
      }
    },
    contacts: async () => (await standings()).map(({ contact }) => contact),
    retry(lanes) {
      for (const thread of threads) thread.send({ kind: 'retry', lanes })
    },
  }
}
