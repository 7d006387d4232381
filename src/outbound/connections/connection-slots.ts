import type { Meter } from '../../metrics/index.js'
import type { SmtpConnection } from '../../smtp/index.js'

/**
 * A thread's SMTP sockets, each counted from before it is opened until it is closed. A socket that is being opened,
 * in use, idle, or waits for the answer to QUIT is one connection to the receiver.
 */
export interface ConnectionSlots {
  /**
   * A slot for a session that is about to be opened. Where the site, or all sites together, have none left, sessions
   * that said QUIT are closed at once, then idle ones are ended, the longest idle first. Whoever asks holds a
   * delivery slot (`admission/delivery-slots.ts`), so sessions that are opened or in use leave room for it.
   */
  take(at: ConnectionLimit): ConnectionSlot
  /** How many sockets there are by site, idle ones too. */
  readonly bySite: ReadonlyMap<string, number>
}

/** A limit holds for a site and one source address, as in `shaping/`. */
export interface ConnectionLimit {
  site: string
  source: string
  limit: number
}

/** The room of one socket. */
export interface ConnectionSlot {
  /** The session that was opened, in use. The slot is free when its socket is closed. */
  opened(connection: SmtpConnection): void
  /** The session may be ended from now on, until it is in use again. */
  idle(): void
  inUse(): void
  /** Says QUIT, and closes the socket when its room is needed. */
  leave(): void
  /** No session came of it. */
  free(): void
}

/** The sockets that share one limit: how many, and which of them may be ended. */
interface Sockets {
  taken: number
  /** The function that ends each idle one. */
  readonly idle: Set<() => void>
  readonly leaving: Set<() => void>
}

/**
 * Counts connections, at most `max` of them, and ends idle ones where another one needs the room.
 */
export function makeConnectionSlots(max: number, meter: Pick<Meter, 'gauge'>): ConnectionSlots {
  const all = noSockets()
  const rooms = new Map<string, Sockets>()
  const bySite = new Map<string, number>()

  const count = (site: string, more: 1 | -1) => {
    const sockets = (bySite.get(site) ?? 0) + more
    if (sockets === 0) bySite.delete(site)
    else bySite.set(site, sockets)
    meter.gauge('posthorn_connections', { site }, sockets)
  }

  return {
    bySite,
    take({ site, source, limit }) {
      const key = `${site} ${source}`
      makeRoom(rooms.get(key), limit)
      makeRoom(all, max)
      const there = rooms.get(key) ?? noSockets()
      rooms.set(key, there)
      there.taken++
      all.taken++
      count(site, 1)
      let session: SmtpConnection | undefined
      let isFree = false

      const inUse = () => {
        for (const { idle } of [there, all]) idle.delete(end)
      }
      const free = () => {
        if (isFree) return
        isFree = true
        inUse()
        for (const { leaving } of [there, all]) leaving.delete(end)
        all.taken--
        if (--there.taken === 0) rooms.delete(key)
        count(site, -1)
      }
      const end = () => {
        session?.quit()
        // It is not known yet whether QUIT was heard; nothing depends on it.
        session?.destroy()
        free()
      }
      return {
        opened(connection) {
          session = connection
          void connection.closed.then(free)
        },
        idle() {
          for (const { idle } of [there, all]) idle.add(end)
        },
        inUse,
        leave() {
          inUse()
          session?.quit()
          if (!isFree) for (const { leaving } of [there, all]) leaving.add(end)
        },
        free,
      }
    },
  }
}

/** A limit with no sockets yet. */
const noSockets = (): Sockets => ({ taken: 0, idle: new Set(), leaving: new Set() })

/** Ends sockets until one more fits. */
function makeRoom(room: Sockets | undefined, max: number): void {
  while (room !== undefined && room.taken >= max) {
    const [end = room.idle.values().next().value] = room.leaving
    if (end === undefined) return
    end()
  }
}
