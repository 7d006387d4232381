import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import { keepNewest } from '../bounded/index.js'
import { type Clock, pause } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { behaviourOf, simulatorDomain } from './recipients.js'

/** A mail that was accepted. */
export interface Accepted {
  mailFrom: string
  recipient: string
  /** The beginning of its header, up to 32 KiB. */
  header: Buffer
  report: 'bounce' | 'complaint' | undefined
}

/** The server of the simulated recipients. */
export interface Receiver {
  readonly port: number
  close(): Promise<void>
}

// Only loopback, because it takes any mail without a question.
const host = '127.0.0.1'
// How much of a mail's header a report returns.
const keptHeaderBytes = 32 * 1024
// For how many deliveries it remembers how often they were put off; the oldest are forgotten, and put off anew.
const maxPutOff = 10_000
// The same for domains that put mail off for a time.
const maxDeferring = 100
const closeTimeoutMs = 500

/** The server of the simulator's recipients: on loopback, for this appliance only. */
export async function openReceiver(deps: {
  clock: Clock
  log: Log
  onAccepted(mail: Accepted): void
}): Promise<Receiver> {
  const { clock, log, onAccepted } = deps
  const { SMTPServer } = await import('smtp-server')
  const stopping = new AbortController()
  const putOff = new Map<string, number>()
  /** By domain, when its first mail came. */
  const deferring = new Map<string, number>()

  /** Whether mail to this domain comes within `forMs` after the first one. */
  const defers = (domain: string, forMs: number): boolean => {
    const now = clock.now()
    const since = deferring.get(domain) ?? now
    if (since === now) keepNewest(deferring, domain, now, maxDeferring)
    return now < since + forMs
  }

  /** Whether this delivery is to be refused, as it was refused fewer than `times` times. */
  const refusesAgain = (mailFrom: string, times: number): boolean => {
    const before = putOff.get(mailFrom) ?? 0
    putOff.delete(mailFrom)
    if (before >= times) return false
    keepNewest(putOff, mailFrom, before + 1, maxPutOff)
    return true
  }

  const judge = ({ address }: SMTPServerAddress, session: SMTPServerSession) => {
    const behaviour = behaviourOf(address)
    if (behaviour?.kind === 'accept') return undefined
    if (behaviour?.kind !== 'refuse') return new Refusal('550 5.1.1 Not a recipient to be mailed')
    const { reply, times, forMs } = behaviour
    const isOver =
      (times !== undefined && !refusesAgain(senderOf(session), times)) ||
      (forMs !== undefined && !defers(domainOf(address), forMs))
    return isOver ? undefined : new Refusal(reply)
  }

  const take = async (stream: SMTPServerDataStream, session: SMTPServerSession) => {
    const header = await readHeader(stream)
    const recipient = session.envelope.rcptTo[0]?.address ?? ''
    const behaviour = behaviourOf(recipient)
    const { afterMs = 0, report } = behaviour?.kind === 'accept' ? behaviour : {}
    if (afterMs > 0) await pause(clock, afterMs, stopping.signal)
    onAccepted({ mailFrom: senderOf(session), recipient, header, report })
    return '2.0.0 Delivered to the simulator'
  }

  const server = new SMTPServer({
    name: simulatorDomain,
    banner: 'plays the recipients',
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    // The replies above have their own codes.
    hideENHANCEDSTATUSCODES: true,
    logger: false,
    closeTimeout: closeTimeoutMs,
    onRcptTo: (address, session, done) => done(judge(address, session)),
    // smtp-server awaits nothing: a rejected promise would be unhandled and the client left waiting.
    onData: (stream, session, done) => {
      take(stream, session).then(
        (text) => done(null, text),
        () => done(new Refusal('451 4.4.2 The connection was lost')),
      )
    },
  })
  server.on('error', (error) => log.debug({ error }, 'Simulator connection failed'))
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(0, host, resolve)
  })
  const address = server.server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close() {
      stopping.abort()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

/** An SMTP reply in the form that smtp-server takes: `550 5.1.1 words`. */
class Refusal extends Error {
  readonly responseCode: number
  constructor(reply: string) {
    super(reply.slice(4))
    this.name = 'Refusal'
    this.responseCode = Number(reply.slice(0, 3))
  }
}

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

/** MAIL FROM, which names the delivery; empty for the null sender. */
const senderOf = ({ envelope: { mailFrom } }: SMTPServerSession) =>
  mailFrom === false ? '' : mailFrom.address

/** Reads a mail to its end and keeps its header. */
async function readHeader(stream: SMTPServerDataStream): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (bytes < keptHeaderBytes)
      chunks.push(Buffer.from(chunk.subarray(0, keptHeaderBytes - bytes)))
    bytes += chunk.length
  }
  const start = Buffer.concat(chunks)
  const end = start.indexOf('\r\n\r\n')
  return end < 0 ? start : start.subarray(0, end + 2)
}
