import type { Readable } from 'node:stream'

// How many bytes must come before `advanced` is told. When it is crowded, the gate gives a slow
// client 10 s from one call to the next, so this asks for 500 B/s: Postfix's `smtpd_min_data_rate`.
const progressBytes = 5_000

/** Whether these bytes complete another piece, for which the gate gives a client more time. */
export const isNextPiece = (before: number, after: number): boolean =>
  Math.floor(after / progressBytes) > Math.floor(before / progressBytes)

/** Calls `gone` when a message's stream ends before the message does: the client has left. */
export function whenCutOff(stream: Readable, gone: () => void): void {
  // After a regular end this does nothing.
  const look = () => {
    if (!stream.readableEnded) gone()
  }
  stream.once('error', look)
  stream.once('close', look)
}
