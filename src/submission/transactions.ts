import type {
  SMTPServerAddress,
  SMTPServerAuthentication,
  SMTPServerDataStream,
  SMTPServerSession,
} from 'smtp-server'
import { type Clock, pause } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { type HeaderField, parseMailbox } from '../mime/index.js'
import { type ArrivalRoom, type ConnectionGate, Refusal, sourceOf } from '../smtpd/index.js'
import { arrive } from './arriving.js'
import type { Clients } from './client.js'
import type { FailedLogins } from './failed-logins.js'
import { checkEnvelopeSender, type HandInDeps, handIn } from './hand-in.js'
import { asciiLine, asRefusal } from './replies.js'
import type { SessionCourse } from './session.js'

/** What the commands of a session need. */
export interface SubmissionTransactionDeps extends HandInDeps {
  clock: Clock
  log: Log
  clients: Clients
  failedLogins: FailedLogins
  room: ArrivalRoom
  /** Where large messages stay while they arrive. */
  dir: string
  courseOf(session: SMTPServerSession): SessionCourse
  /** Called for each mail, and each log-in that failed. */
  taken(): void
  failed(): void
}

// As many as a mail of the API may have. RFC 5321 §4.5.3.1.8: further ones get a 452, and clients send them the rest
// as another mail.
export const maxRecipients = 50
// Messages in a connection; a program with more opens another one, which may find that the key was deleted.
const maxMessages = 1_000
// RFC 4954 §4: long enough to make guessing useless, and short enough for a person.
const failedLoginMs = 1_000
// The parameters of MAIL that are offered. AUTH= (RFC 4954 §5) has to be known, and says nothing
// here.
const mailParameters = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'AUTH'])

/** The work of AUTH, MAIL, RCPT and DATA. Each rejects with a `Refusal`. */
export function makeTransactions(
  deps: SubmissionTransactionDeps,
  gate: Pick<ConnectionGate, 'advanced'>,
) {
  const { clients, failedLogins, clock, courseOf } = deps

  /** The client, by its key or its network; throws a 530. */
  const clientOf = async (session: SMTPServerSession) => {
    const course = courseOf(session)
    course.client ??= await clients.byNetwork(session.remoteAddress)
    if (course.client !== undefined) return course.client
    const needsTls = !session.secure && course.listener !== 'plain'
    throw new Refusal(
      needsTls
        ? '530 5.7.0 Issue STARTTLS first, then log in with an API key as password'
        : '530 5.7.0 Log in first, with an API key as password',
    )
  }

  return {
    async logIn(auth: SMTPServerAuthentication, session: SMTPServerSession): Promise<string> {
      const { remoteAddress } = session
      const course = courseOf(session)
      course.user = auth.username?.slice(0, 100)
      if (failedLogins.isLockedOut(remoteAddress)) {
        throw new Refusal('421 4.7.0 Too many failed log-ins from there; try again in 15 minutes')
      }
      try {
        course.client = await clients.byKey(auth.password ?? '', remoteAddress)
      } catch (error) {
        if (!(error instanceof ApiError) || error.status >= 500) throw error
        failedLogins.add(remoteAddress)
        deps.failed()
        await pause(clock, failedLoginMs)
        const why =
          error.code === 'invalid_api_key'
            ? 'The password is not an API key'
            : asciiLine(error.message)
        throw new Refusal(`535 5.7.8 ${why}`)
      }
      gate.advanced(session)
      return course.client.accountId
    },

    async begin(address: SMTPServerAddress, session: SMTPServerSession): Promise<void> {
      const course = courseOf(session)
      course.recipients.clear()
      course.mailFrom = address.address
      refuseParameters(address, mailParameters)
      if (session.transaction > maxMessages) {
        throw new Refusal('421 4.7.0 Too many messages or recipients in one connection')
      }
      const client = await clientOf(session)
      await client.again()
      await asRefusal(checkEnvelopeSender(deps, client, address.address))
      gate.advanced(session)
    },

    async judge(given: SMTPServerAddress, session: SMTPServerSession): Promise<void> {
      const { recipients } = courseOf(session)
      refuseParameters(given, new Set())
      const mailbox = parseMailbox(given.address)
      if (mailbox === undefined) throw new Refusal('553 5.1.3 That is not an email address')
      if (mailbox.utf8Local && !session.envelope.smtpUtf8) {
        throw new Refusal('553 5.6.7 The address needs MAIL FROM with SMTPUTF8')
      }
      // smtp-server takes Ada@ and ada@ for the same, and keeps the last.
      if (!recipients.has(mailbox.address) && recipients.size >= maxRecipients) {
        throw new Refusal(`452 4.5.3 A mail has at most ${maxRecipients} recipients`)
      }
      recipients.set(mailbox.address, given.address)
      gate.advanced(session)
    },

    async receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
      const course = courseOf(session)
      const { recipients, mailFrom } = course
      const { smtpUtf8 = false } = session.envelope
      const advanced = () => gate.advanced(session)
      const source = sourceOf(session.remoteAddress)
      const arrived = await arrive(stream, { room: deps.room, source, dir: deps.dir, advanced })
      // From here on it waits for us.
      advanced()
      try {
        const client = await clientOf(session)
        client.takeRecipients(recipients.size)
        const envelope = { from: mailFrom, to: [...recipients.values()], smtpUtf8 }
        const replaced = ({ name, value }: HeaderField, emailId: string) => {
          course.replaced.add(name)
          const told = { emailId, field: name, value: value.slice(0, 200) }
          deps.log.info(
            told,
            'A field of a submitted mail has no valid form; another leaves in its place',
          )
        }
        const { id } = await asRefusal(handIn(deps, { client, envelope, arrived, replaced }))
        course.accepted++
        deps.taken()
        if (course.emailIds.length < maxIds) course.emailIds.push(id)
        return `2.0.0 Queued as ${id}`
      } finally {
        arrived.release()
        advanced()
      }
    },
  }
}

// Ids of mails that the session log keeps of one session.
const maxIds = 20

/** RFC 5321 §4.1.1.11: a parameter that was not offered is refused, because nothing would be done about it. */
function refuseParameters({ args }: SMTPServerAddress, known: ReadonlySet<string>): void {
  const unknown = Object.keys(args === false ? {} : (args ?? {})).find((name) => !known.has(name))
  if (unknown === undefined) return
  throw new Refusal(`555 5.5.4 ${asciiLine(unknown.slice(0, 40))} is not offered here`)
}
