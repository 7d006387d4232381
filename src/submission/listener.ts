import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server'
import type { Clock } from '../clock/index.js'
import { liesWithin } from '../dns/index.js'
import { OperatorError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import {
  boundSessions,
  type CertificateFor,
  type ConnectionGate,
  coded,
  guardListener,
  makeProxyDoor,
  offerNow,
  type Refusal,
  refuseFor,
  type SessionConnection,
  sniOptions,
  takeBarePaths,
  takeQuotedLocals,
  tellPeers,
  wrapSessions,
} from '../smtpd/index.js'
import { type ListenerName, makeTranscript, type SessionCourse } from './session.js'
import type { SessionLog } from './session-log.js'
import { makeTransactions, maxRecipients, type SubmissionTransactionDeps } from './transactions.js'

/** What all listeners share. */
export interface SubmissionListenerDeps
  extends Omit<SubmissionTransactionDeps, 'courseOf' | 'failed' | 'taken'> {
  clock: Clock
  log: Log
  meter: Meter
  gate: ConnectionGate
  sessions: SessionLog
  certificateFor: CertificateFor
  /** The name in its greeting. */
  name: string
  idleTimeout: number
  /** The addresses that have to begin with a PROXY header, which names the client. */
  proxyProtocolFrom: readonly string[]
  /** The size on the wire, which SIZE announces. */
  maxMessageBytes: number
}

/** One listener of the settings: its kind, where it listens, and for whom. */
export interface ListenerPlace {
  listener: ListenerName
  host: string
  port: number
  /** Who may connect; undefined: everybody. */
  networks: readonly string[] | undefined
}

/** A listener that is open. */
export interface SubmissionListener {
  readonly port: number
  /** Sessions from now on get the present certificates. */
  renew(): void
  /** Lets transactions under way end for a moment, then closes them. */
  close(): Promise<void>
  /** Resolves after that, when all connections have ended and each session has been logged. */
  ended(): Promise<void>
}

// How long one command line may be. RFC 5321 §4.5.3.1.4 asks for 512 at least; an AUTH with its password is the
// longest (RFC 4954 §4: 12,288, which no API key needs).
const maxCommandBytes = 4 * 1024
// All kinds of refusals count: a client that was told to try again later and goes on at once is broken.
const maxRefusedCommands = 60
// Counted from one mail to the next. A mail to the maximum of recipients needs a reply for each, and some more.
const maxReplies = maxRecipients + 50
// How long a stop waits for the transactions that are under way.
const closeTimeoutMs = 2_000

/** Listens. Throws an `OperatorError` if it can't. */
export async function openListener(
  deps: SubmissionListenerDeps,
  place: ListenerPlace,
): Promise<SubmissionListener> {
  // Loaded only by processes that listen: the command line imports this folder too.
  const { SMTPServer } = await import('smtp-server')
  const { log, meter } = deps
  const { listener, host, port } = place
  const courses = makeCourses(deps, listener)
  const { courseOf } = courses
  const server = new SMTPServer(serverOptions(deps, place, courses))
  offerNow(server, deps.certificateFor)
  wrapSessions(server, (connection) => {
    const mayLogIn = () => connection.secure || listener === 'plain'
    follow(connection, () => courseOf(connection.session), mayLogIn)
  })
  takeBarePaths(server)
  takeQuotedLocals(server)
  tellPeers(server)
  // This wraps the other one, because it has to see which command a reply answers.
  boundSessions(server, {
    refused: maxRefusedCommands,
    replies: maxReplies,
    ended: () => meter.count(refusals, { reply: '421 4.7.0' }),
  })
  // Clients that vanish or fail a handshake: an operator could do nothing about them.
  server.on('error', (error) => log.debug({ error }, 'Submission connection failed'))

  const { server: net } = server
  const { clock, gate, proxyProtocolFrom: from } = deps
  const door = makeProxyDoor({ from, clock, log, listener: `submission.${listener}` })
  guardListener(net, { gate, door }, (reply) => meter.count(refusals, { reply }))
  try {
    await new Promise<void>((resolve, reject) => {
      net.once('error', reject)
      server.listen(port, host, () => {
        net.off('error', reject)
        resolve()
      })
    })
  } catch (cause) {
    throw new OperatorError(
      `Cannot listen on ${host}:${port} for submission; [submission] of the settings has the address, or enabled = false`,
      { cause },
    )
  }
  const address = net.address()
  const opened = typeof address === 'object' && address !== null ? address.port : port
  log.info({ host, port: opened, listener }, 'Takes mail from programs')
  return {
    port: opened,
    renew: () => offerNow(server, deps.certificateFor),
    close() {
      door.close()
      return new Promise<void>((resolve) => server.close(resolve))
    },
    ended: courses.allEnded,
  }
}

/** The sessions of a listener from their beginning until they are logged. */
interface Courses {
  courseOf(session: SMTPServerSession): SessionCourse
  /** A command is being answered. */
  answering(work: Promise<unknown>): void
  /** The session is over; a second call does nothing. */
  end(session: SMTPServerSession): void
  /**
   * Ends the sessions that are left once their commands are answered: connections report their end only after a stop.
   */
  allEnded(): Promise<void>
}

function makeCourses(
  { clock, gate, sessions }: SubmissionListenerDeps,
  listener: ListenerName,
): Courses {
  const open = new Map<SMTPServerSession, SessionCourse>()
  const ended = new WeakSet<SMTPServerSession>()
  const answers = new Set<Promise<unknown>>()
  const courseOf = (session: SMTPServerSession): SessionCourse => {
    const course = open.get(session) ?? makeCourse(listener, clock.now())
    // Replies to a session that is over are not kept.
    if (!ended.has(session)) open.set(session, course)
    return course
  }
  const end = (session: SMTPServerSession) => {
    if (ended.has(session)) return
    sessions.add(session, courseOf(session))
    ended.add(session)
    open.delete(session)
    gate.left(session)
  }
  return {
    courseOf,
    answering(work) {
      const answer = work.catch(() => {}).finally(() => answers.delete(answer))
      answers.add(answer)
    },
    end,
    async allEnded() {
      // A mail that has fully arrived is still accepted or refused, and the record must have that.
      await Promise.all(answers)
      for (const session of open.keys()) end(session)
    },
  }
}

/** What smtp-server offers, and whom it asks about each command. */
function serverOptions(
  deps: SubmissionListenerDeps,
  { listener, networks }: ListenerPlace,
  { courseOf, answering, end }: Courses,
): SMTPServerOptions {
  const { log, meter, certificateFor } = deps
  const taken = () => meter.count('posthorn_submission_mails_total', {})
  const failed = () => meter.count('posthorn_submission_failed_logins_total', {})
  const transactions = makeTransactions({ ...deps, courseOf, failed, taken }, deps.gate)
  const answer = <T>(
    work: Promise<T>,
    done: (error: Error | null, value?: T) => void,
    session: SMTPServerSession,
  ) => {
    answering(work)
    refuseFor(work, done, {
      refused: ({ codes, responseCode, message }: Refusal) => {
        meter.count(refusals, { reply: codes })
        const course = courseOf(session)
        course.refused++
        course.lastRefusal = `${responseCode} ${message}`
      },
      failed: (error) => log.error({ error }, 'A submitted mail could not be taken'),
    })
  }

  return {
    name: deps.name,
    banner: 'Posthorn submission',
    secure: listener === 'tls',
    size: deps.maxMessageBytes,
    rejectOversized: true,
    maxRecipients,
    maxCommandLength: maxCommandBytes,
    socketTimeout: deps.idleTimeout,
    // We ask for it ourselves, because networks that the operator trusts need no log-in.
    authOptional: true,
    // RFC 4954 §9: a password goes over TLS. CRAM-MD5 would need the key in clear.
    authMethods: ['PLAIN', 'LOGIN'],
    allowInsecureAuth: listener === 'plain',
    ...sniOptions(certificateFor),
    // Others choose that name, and it takes time to look it up.
    disableReverseLookup: true,
    // Each reply shows a code: its own, or else that of smtp-server's table.
    hideENHANCEDSTATUSCODES: false,
    // Webhooks and the API tell what happened to a mail.
    hideDSN: true,
    logger: false,
    closeTimeout: closeTimeoutMs,
    onConnect: (session, done) => {
      courseOf(session)
      if (networks === undefined || liesWithin(session.remoteAddress, networks)) return done()
      const error = new Error('5.7.1 This address may not use this listener')
      done(Object.assign(error, { responseCode: 554 }))
    },
    onSecure: (socket, session, done) => {
      courseOf(session).tls = tlsInWords(socket)
      // RFC 3207 §4.2: what was said before no longer counts.
      courseOf(session).client = undefined
      done()
    },
    onClose: end,
    onAuth: (auth, session, done) =>
      answer(transactions.logIn(auth, session), (error, user) => done(error, { user }), session),
    onMailFrom: (address, session, done) =>
      answer(transactions.begin(address, session), done, session),
    onRcptTo: (address, session, done) =>
      answer(transactions.judge(address, session), done, session),
    onData: (stream, session, done) =>
      answer(transactions.receive(stream, session), done as DataDone, session),
  }
}

/**
 * The callback as smtp-server really takes it: with a text for the final reply, which its types do
 * not know.
 */
type DataDone = (error: Error | null, message?: string) => void

// Counts each refusal by its reply.
const refusals = 'posthorn_submission_refusals_total'

/** What is known of a session that has just begun: nothing but its listener. */
const makeCourse = (listener: ListenerName, beganAt: number): SessionCourse => ({
  listener,
  beganAt,
  client: undefined,
  user: undefined,
  tls: undefined,
  recipients: new Map(),
  mailFrom: '',
  accepted: 0,
  refused: 0,
  emailIds: [],
  replaced: new Set(),
  lastRefusal: undefined,
  transcript: makeTranscript(),
})

/** `TLSv1.3 TLS_AES_256_GCM_SHA384`, for the session log; undefined without TLS. */
const tlsInWords = (socket: Socket | TLSSocket) =>
  'getCipher' in socket ? `${socket.getProtocol()} ${socket.getCipher().name}` : undefined

/** Records what is said, and corrects smtp-server's codes and offers. */
function follow(
  connection: SessionConnection,
  courseOf: () => SessionCourse,
  mayLogIn: () => boolean,
): void {
  const send = connection.send.bind(connection)
  connection.send = (code, data, context) => {
    // Where AUTH is not offered, no client sends a password in clear.
    const lines = Array.isArray(data)
      ? data.filter((line) => mayLogIn() || !line.startsWith('AUTH '))
      : data && coded(connection, { code, line: data, context })
    const course = courseOf()
    course.transcript.add(`S: ${code} ${Array.isArray(lines) ? lines.join(' | ') : (lines ?? '')}`)
    if (code >= 400 && course.lastRefusal === undefined) {
      course.lastRefusal = `${code} ${String(lines ?? '')}`
    }
    send(code, lines, typeof lines === 'string' ? false : context)
  }
  const onCommand = connection._onCommand.bind(connection)
  connection._onCommand = (command, done) => {
    const text = command.toString()
    const name = text.split(' ')[0]?.toUpperCase() ?? ''
    courseOf().transcript.add(`C: ${connection._redactCredentials(name, text).line}`)
    onCommand(command, done)
  }
}
