import type { Readable } from 'node:stream'

// How often `advanced` is told. The gate gives a slow client 10 s from one to the next when it is
// crowded, so this asks for 500 B/s: Postfix's `smtpd_min_data_rate`.
const progressBytes = 5_000

/** Whether another piece, for which the gate gives a client more time, has come with these bytes. */
export const isNextPiece = (before: number, after: number): boolean =>
  Math.floor(after / progressBytes) > Math.floor(before / progressBytes)

/** Calls `gone` when a message's stream ends before the message does: the client has left. */
export function whenCutOff(stream: Readable, gone: () => void): void {
  // After an end this changes nothing.
  const look = () => {
    if (!stream.readableEnded) gone()
  }
  stream.once('error', look)
  stream.once('close', look)
}
