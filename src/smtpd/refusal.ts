import type { Server, Socket } from 'node:net'
import type { Gate } from './gate.js'

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

/** smtp-server counts no addresses and knows no end of a session: both are seen to before it. */
export function guardListener(
  net: Server,
  gate: Gate,
  refused: (reply: string, socket: Socket) => void,
): void {
  const serve = net.listeners('connection') as ((socket: Socket) => void)[]
  net.removeAllListeners('connection')
  net.on('connection', (socket: Socket) => {
    if (gate.admit(socket)) {
      for (const take of serve) take.call(net, socket)
      return
    }
    refused('421 4.7.0', socket)
    socket.on('error', () => {})
    socket.write('421 4.7.0 Too many connections, try again later\r\n')
    socket.destroySoon()
  })
}

/**
 * smtp-server awaits nothing: a rejected promise would be unhandled and the client left waiting. `failed`
 * hears of what is no refusal; the client is asked to come again.
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
