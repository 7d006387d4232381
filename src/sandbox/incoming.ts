import type { SMTPServerDataStream } from 'smtp-server'

/** The reply that a client gets instead of a 250, with its enhanced code. */
export class SandboxRefusal extends Error {
  constructor(
    readonly responseCode: number,
    message: string,
  ) {
    super(message)
    this.name = 'Refusal'
  }
}

/** The bytes that all mails together may take while they arrive. */
export interface SandboxRoom {
  take(bytes: number): boolean
  release(bytes: number): void
}

/** Room for so many bytes of messages that are in memory at once. */
export function makeRoom(maxBytes: number): SandboxRoom {
  let held = 0
  return {
    take(bytes) {
      if (held + bytes > maxBytes) return false
      held += bytes
      return true
    },
    release(bytes) {
      held -= bytes
    },
  }
}

/** A message that has arrived whole. */
export interface SandboxBytes {
  raw: Buffer
  /** Gives the room back, once the mail is stored or lost. */
  release(): void
}

/**
 * The whole message, read to its end even when it is not kept: a client reads a refusal only after its final dot.
 * Rejects with a `SandboxRefusal`: too large, no room, or the client went away.
 */
export function collect(stream: SMTPServerDataStream, room: SandboxRoom): Promise<SandboxBytes> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let held = 0
    let refusal: SandboxRefusal | undefined
    const release = () => {
      room.release(held)
      held = 0
    }
    const drop = (why: SandboxRefusal) => {
      refusal ??= why
      chunks = []
      release()
    }
    stream.on('data', (chunk: Buffer) => {
      if (refusal !== undefined) return
      if (stream.sizeExceeded)
        return drop(new SandboxRefusal(552, '5.3.4 The message is too large'))
      if (!room.take(chunk.length))
        return drop(new SandboxRefusal(452, '4.3.1 Too much mail at once'))
      held += chunk.length
      chunks.push(chunk)
    })
    stream.once('end', () => {
      if (refusal !== undefined) return reject(refusal)
      resolve({ raw: Buffer.concat(chunks), release })
    })
    // After the message's end this changes nothing; without an end the client has gone.
    const gone = () => {
      if (stream.readableEnded) return
      drop(new SandboxRefusal(451, '4.4.2 The connection was lost'))
      reject(refusal)
    }
    stream.once('error', gone)
    stream.once('close', gone)
  })
}
