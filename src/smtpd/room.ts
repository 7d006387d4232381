/** The bytes that all mails together may take while they arrive, shared by networks. */
export interface ArrivalRoom {
  /** A mail begins to arrive; `lose` is called when others need the room that it holds. */
  begin(network: string, lose: () => void): RoomShare
}

export interface RoomShare {
  /** False: there is no room for these bytes. */
  take(bytes: number): boolean
  /** The mail is whole: it goes to disk in a moment, and loses its room to nobody any more. */
  arrived(): void
  /** Gives back all that was taken. */
  leave(): void
}

interface Held {
  network: string
  bytes: number
  /** Undefined once the mail is whole. */
  lose: (() => void) | undefined
}

/**
 * A network holds at most `perNetwork` bytes. When all are taken, a mail that needs some gets those of the oldest mail
 * of the network that holds most, unless its own network would then hold more. As with connections, nobody who waits
 * locks others out.
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
