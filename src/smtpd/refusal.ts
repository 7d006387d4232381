import type { Server, Socket } from 'node:net'
import type { SMTPServer } from 'smtp-server'
import { type ProxyDoor, speakFor } from './behind-proxies.js'
import type { ConnectionGate } from './gate.js'
import { type SessionConnection, wrapSessions } from './session-bounds.js'

/** What a client is told instead of a 250, e.g. `550 5.1.1 No such mailbox`. */
export class Refusal extends Error {
  readonly responseCode: number
  /** e.g. `550 5.1.1`. */
  readonly codes: string
  constructor(reply: string) {
    super(reply.slice(4))
    this.name = 'Refusal'
    this.codes = reply.slice(0, 9)
    this.responseCode = Number(reply.slice(0, 3))
  }
}

/**
 * smtp-server counts no addresses, and does not tell when a session ends. This does both, before smtp-server, by the
 * addresses that the door tells.
 */
export function guardListener(
  net: Server,
  { gate, door }: { gate: ConnectionGate; door: ProxyDoor },
  refused: (reply: string, socket: Socket) => void,
): void {
  const serve = net.listeners('connection') as ((socket: Socket) => void)[]
  net.removeAllListeners('connection')
  const admit = (socket: Socket) => {
    if (gate.admit(socket)) {
      for (const take of serve) take.call(net, socket)
      return
    }
    refused('421 4.7.0', socket)
    socket.on('error', () => {})
    socket.write('421 4.7.0 Too many connections, try again later\r\n')
    socket.destroySoon()
  }
  net.on('connection', (socket: Socket) =>
    door(socket, (known, peer) => {
      if (peer !== undefined) speakFor(known, peer)
      admit(known)
    }),
  )
}

/**
 * smtp-server awaits nothing: a rejected promise would be unhandled and the client left waiting. `failed` gets every
 * error that is no refusal; the client is asked to come again.
 */
export function refuseFor<T>(
  work: Promise<T>,
  done: (error: Error | null, value?: T) => void,
  { refused, failed }: { refused(refusal: Refusal): void; failed(error: unknown): void },
): void {
  const refuse = (refusal: Refusal) => {
    refused(refusal)
    done(refusal)
  }
  work.then(
    (value) => done(null, value),
    (error: unknown) => {
      if (error instanceof Refusal) return refuse(error)
      failed(error)
      refuse(new Refusal('451 4.3.0 Not possible just now, try again later'))
    },
  )
}

const ownCode = /^[245]\.\d{1,3}\.\d{1,3} /

/** A line with an enhanced code: its own, or that of smtp-server's table; none where RFC 2034 §3 has none. */
export function coded(
  connection: SessionConnection,
  { code, line, context }: { code: number; line: string; context: string | false | undefined },
): string {
  if (context === false || ownCode.test(line)) return line
  const enhanced =
    code === 421 ? closingCode(line) : connection._getEnhancedStatusCode(code, context)
  return enhanced === '' ? line : `${enhanced} ${line}`
}

/** RFC 3463 §3.5: smtp-server calls each end of a session a time-out. */
function closingCode(line: string): string {
  if (line.startsWith('Timeout')) return '4.4.2'
  return line.startsWith('Server shutting down') ? '4.3.2' : '4.7.0'
}

/** Lets replies give their own codes: smtp-server's table knows `452` only as a full mailbox. */
export function codeReplies(server: SMTPServer): void {
  wrapSessions(server, (connection) => {
    const send = connection.send.bind(connection)
    connection.send = (code, data, context) =>
      typeof data === 'string'
        ? send(code, coded(connection, { code, line: data, context }), false)
        : send(code, data, context)
  })
}
