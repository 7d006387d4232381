import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server'
import type { Clock } from '../clock/index.js'
import type { Resolver } from '../dns/index.js'
import { OperatorError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { codeReplies } from '../smtpd/index.js'
import type { Store } from '../store/index.js'
import { startCaretaker } from './caretaker.js'
import { collect, makeRoom, SandboxRefusal } from './incoming.js'
import { keepMessage, type Owner } from './keep.js'
import { keptReply } from './kept-reply.js'
import { takeAllAddresses } from './messages.js'

/** What the receiver needs. */
export interface SandboxReceiverDeps {
  store: Store
  clock: Clock
  log: Log
  /** Answers the checks of DKIM, SPF and DMARC. */
  resolver: Resolver
  /**
   * The owner of a mail from this return path: a mail without an owner is refused. Default: all mail belongs to the
   * sandbox.
   */
  ownerOf?: (mailFrom: string) => Promise<Owner | undefined>
  config: {
    /** Default 127.0.0.1. */
    host?: string
    /** 0 takes a free one. */
    port: number
    /** The oldest messages beyond this number are deleted. */
    keepMessages: number
    /**
     * How many bytes all mails that arrive at the same time may take. Default 64 MiB; a mail is held about three
     * times while it is stored.
     */
    maxHeldBytes?: number
  }
}

/** The receiver at work. */
export interface SandboxReceiver {
  readonly port: number
  /** Lets transactions under way end for a moment, then closes them and stops checking. */
  close(): Promise<void>
}

const maxMessageBytes = 25 * 1024 * 1024
const closeTimeoutMs = 2_000

/** Listens. Throws an `OperatorError` if it can't. */
export async function openSandboxReceiver(deps: SandboxReceiverDeps): Promise<SandboxReceiver> {
  const { SMTPServer } = await import('smtp-server')
  const { config, log } = deps
  const host = config.host ?? '127.0.0.1'
  const room = makeRoom(config.maxHeldBytes ?? 64 * 1024 * 1024)
  const { ownerOf } = deps
  const caretaker = await startCaretaker({ ...deps, ofAccounts: ownerOf !== undefined })

  async function receive(
    stream: Parameters<NonNullable<SMTPServerOptions['onData']>>[0],
    session: SMTPServerSession,
  ): Promise<string> {
    const { raw, release } = await collect(stream, room)
    try {
      const { mailFrom } = session.envelope
      const owner = await ownerOf?.(mailFrom === false ? '' : mailFrom.address)
      // Another program on this machine may find the port; the mail that it brings has no owner.
      if (ownerOf !== undefined && owner === undefined) {
        throw new SandboxRefusal(550, '5.7.1 Only mail of test keys is taken here')
      }
      const id = await keepMessage(deps, raw, session, owner)
      caretaker.ring(owner?.accountId)
      return keptReply(id)
    } finally {
      release()
    }
  }

  const server = new SMTPServer({
    name: 'sandbox.posthorn.test',
    banner: 'catch-all, relays nothing',
    size: maxMessageBytes,
    rejectOversized: true,
    maxRecipients: 100, // RFC 5321 §4.5.3.1.8: the minimum; further recipients get a 452 and are sent again
    maxClients: 600,
    authOptional: true,
    disabledCommands: ['AUTH'],
    // A reverse lookup would leave the machine.
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    // Also silences the warning about the built-in certificate, which is fine on loopback.
    logger: false,
    closeTimeout: closeTimeoutMs,
    // smtp-server awaits nothing: a rejected promise would be unhandled and the client left waiting.
    onData: (stream, session, done) => {
      receive(stream, session).then(
        (text) => done(null, text),
        (error: unknown) => done(asReply(error, log)),
      )
    },
  })
  takeAllAddresses(server)
  codeReplies(server)
  // Clients that vanish or fail a handshake: an operator could do nothing about them.
  server.on('error', (error) => log.debug({ error }, 'Sandbox connection failed'))

  try {
    await new Promise<void>((resolve, reject) => {
      server.server.once('error', reject)
      server.listen(config.port, host, () => {
        server.server.off('error', reject)
        resolve()
      })
    })
  } catch (cause) {
    await caretaker.close()
    throw new OperatorError(`Cannot listen on ${host}:${config.port}`, { cause })
  }
  const address = server.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : config.port
  log.info({ host, port }, 'Sandbox inbox takes mail')
  return {
    port,
    async close() {
      await new Promise<void>((resolve) => server.close(resolve))
      await caretaker.close()
    },
  }
}

/** The reply after a fault: our own refusal, or a temporary one. */
function asReply(error: unknown, log: Log): Error {
  if (error instanceof SandboxRefusal) return error
  log.error({ error }, 'Sandbox could not keep a mail')
  return new SandboxRefusal(451, '4.3.0 The mail could not be kept, try again later')
}
