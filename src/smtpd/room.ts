/** The bytes that all mails together may take while they arrive, shared by networks. */
export interface ArrivalRoom {
  /** A mail begins to arrive; `lose` is called when what it holds is needed by others. */
  begin(network: string, lose: () => void): RoomShare
}

export interface RoomShare {
  /** False: there is no room for it. */
  take(bytes: number): boolean
  /** It is whole: it goes to disk in a moment, and is lost to nobody any more. */
  arrived(): void
  /** Gives back all that was taken. */
  leave(): void
}

interface Held {
  network: string
  bytes: number
  /** Undefined once it is whole. */
  lose: (() => void) | undefined
}

/**
 * A network holds at most `perNetwork` bytes. When all are taken, who needs some gets those of the
 * oldest mail of the network that holds most, unless it would hold more itself: as with connections,
 * nobody is locked out by one who waits.
 */
export function makeRoom({ all, perNetwork }: { all: number; perNetwork: number }): ArrivalRoom {
  const held = new Set<Held>()
  const byNetwork = new Map<string, number>()
  let total = 0
  const of = (network: string) => byNetwork.get(network) ?? 0
  const change = (mail: Held, by: number) => {
    const left = of(mail.network) + by
    if (left > 0) byNetwork.set(mail.network, left)
    else byNetwork.delete(mail.network)
    mail.bytes += by
    total += by
  }
  /** Frees what the oldest mail of the heaviest network holds; false when nobody holds more. */
  const displace = (network: string, bytes: number): boolean => {
    let weight = of(network) + bytes
    let victim: Held | undefined
    for (const mail of held) {
      if (mail.lose === undefined || mail.bytes === 0 || of(mail.network) <= weight) continue
      weight = of(mail.network)
      victim = mail
    }
    victim?.lose?.()
    return victim !== undefined
  }

  return {
    begin(network, lose) {
      const mail: Held = { network, bytes: 0, lose }
      held.add(mail)
      return {
        take(bytes) {
          if (of(network) + bytes > perNetwork) return false
          while (total + bytes > all) if (!displace(network, bytes)) return false
          change(mail, bytes)
          return true
        },
        arrived() {
          mail.lose = undefined
        },
        leave() {
          held.delete(mail)
          change(mail, -mail.bytes)
        },
      }
    },
  }
}
