import type { Socket } from 'node:net'

/** RFC 8446 §5.1: the first record that a client of TLS sends is a handshake. */
export const isHandshake = (first: Buffer) => first[0] === 0x16

const text = 'This port speaks HTTPS. Ask again with https:// in place of http://\n'
const answer = [
  'HTTP/1.1 400 Bad Request',
  'Content-Type: text/plain; charset=utf-8',
  `Content-Length: ${text.length}`,
  'Connection: close',
  '',
  text,
].join('\r\n')

/** Tells a client that speaks HTTP without TLS so, in words that a person sees; closes anything else. */
export function refusePlain(raw: Socket, first: Buffer): void {
  if (!/^[A-Z]+ [!-~]/.test(first.toString('latin1', 0, 16))) return void raw.destroy()
  // With unread bytes the kernel would reset the connection, and the answer would be lost.
  raw.resume()
  raw.end(answer)
}
