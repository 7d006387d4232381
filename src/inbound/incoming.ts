import type { SMTPServerDataStream } from 'smtp-server'
import { type ArrivalRoom, isNextPiece, Refusal, whenCutOff } from '../smtpd/index.js'

/** A message that has arrived whole. */
export interface CollectedMessage {
  /** The message, or its first `keepBytes`. */
  raw: Buffer
  /** The size of the whole message. */
  sizeBytes: number
  /** Frees the room once the mail is stored or lost. */
  release(): void
}

/**
 * A message, read to its end even when it is not kept: a client hears a refusal only after its final
 * dot. Rejects with a `Refusal`: too large, no room, going in circles, or the client went away.
 */
export function collect(
  stream: SMTPServerDataStream,
  options: {
    room: ArrivalRoom
    network: string
    keepBytes: number
    /** Called after each piece of the message (`isNextPiece`). */
    advanced(): void
  },
): Promise<CollectedMessage> {
  const { room, network, keepBytes, advanced } = options
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let held = 0
    let sizeBytes = 0
    let refusal: Refusal | undefined
    const place = room.begin(network, () =>
      drop('452 4.3.1 Too much mail at once, try again later'),
    )
    const release = () => place.leave()
    const drop = (reply: string) => {
      refusal ??= new Refusal(reply)
      chunks = []
      release()
    }
    stream.on('data', (chunk: Buffer) => {
      if (isNextPiece(sizeBytes, sizeBytes + chunk.length)) advanced()
      sizeBytes += chunk.length
      if (refusal !== undefined) return
      if (stream.sizeExceeded) return drop('552 5.3.4 The message is too large')
      const kept = chunk.subarray(0, keepBytes - held)
      if (kept.length === 0) return
      if (!place.take(kept.length)) return drop('452 4.3.1 Too much mail at once, try again later')
      held += kept.length
      // A copy: the chunk's memory is the connection's.
      chunks.push(Buffer.from(kept))
    })
    stream.once('end', () => {
      const raw = Buffer.concat(chunks)
      if (refusal === undefined && isGoingInCircles(raw)) drop('554 5.4.6 Too many hops')
      if (refusal !== undefined) return reject(refusal)
      place.arrived()
      resolve({ raw, sizeBytes, release })
    })
    whenCutOff(stream, () => {
      drop('451 4.4.2 The connection was lost')
      reject(refusal)
    })
  })
}

const maxHops = 100

/** RFC 5321 §6.3: counting Received fields, at least 100 of them, is how loops are found. */
function isGoingInCircles(raw: Buffer): boolean {
  const end = /\r?\n\r?\n/.exec(raw.toString('latin1', 0, 256 * 1024))?.index ?? raw.length
  const header = raw.toString('latin1', 0, Math.min(end, 256 * 1024))
  return (header.match(/^received:/gim)?.length ?? 0) > maxHops
}
