import { type Command, Option } from 'commander'
import { findAccount, listAccounts } from '../accounts/index.js'
import { OperatorError } from '../errors/index.js'
import { findSession, listSessions, type SubmissionSession } from '../submission/index.js'
import { addCommands, type CommandRow } from './command-row.js'
import { withStore } from './database.js'
import { limitOption, rowNumber } from './option-values.js'
import { jsonTime, say, sayFields, sayJson, sayTable, sayText, shownTime } from './output.js'
import { placeOf } from './place.js'

/** `posthorn submission`: the sessions of programs that hand mail in by SMTP. */
export function submissionCommands(program: Command): void {
  const submission = program
    .command('submission')
    .description('sessions of programs that hand mail in by SMTP')
  addCommands(submission, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'sessions',
    alias: 'list',
    about: 'show the sessions that have ended, newest first',
    options: [
      new Option('--account <account>', 'only of this account: its id or name'),
      new Option('--refused', 'only those in which something was refused'),
      limitOption(),
    ],
    help: 'Example:\n  $ posthorn submission sessions --refused',
    run: runSessions,
  },
  {
    usage: 'show <id>',
    about: 'show a session; of one in which something was refused, what was said',
    help: 'Example:\n  $ posthorn submission show 243948816953344',
    run: runShow,
  },
]

/**
 * Sessions are written only after they end, many at once, so that a busy listener does not wait for
 * the disk.
 */
async function runSessions(options: ListOptions, command: Command): Promise<void> {
  const place = placeOf(command)
  const { refused = false, limit } = options
  const { sessions, names } = await withStore(place, async ({ store: { read } }) => {
    const accountId = options.account && (await findAccount(read, options.account)).id
    const accounts = await listAccounts(read)
    return {
      sessions: await listSessions(read, { accountId, refused, limit }),
      names: new Map(accounts.map(({ id, name }) => [id, name])),
    }
  })
  if (place.json) return sayJson(sessions.map(forMachines))
  sayTable(
    ['ID', 'ENDED', 'FROM', 'ACCOUNT', 'KEY', 'TLS', 'MAILS', 'VERDICT'],
    sessions.map((session) => [
      String(session.id),
      shownTime(session.ended_at),
      session.remote_address,
      (names.get(session.accountId ?? '') ?? '-').slice(0, 20),
      keyOf(session),
      session.tls?.split(' ')[0] ?? '-',
      String(session.accepted),
      session.verdict.slice(0, 80),
    ]),
    'No session has ended yet',
  )
}

/** The conversation is kept only where something was refused. */
async function runShow(given: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const id = rowNumber(given, unknown)
  const session = await withStore(place, ({ store }) => findSession(store.read, id))
  if (session === undefined) throw unknown(given)
  if (place.json) return sayJson(forMachines(session))
  sayFields({
    Session: `${shownTime(session.began_at)} to ${shownTime(session.ended_at)}`,
    From: `${session.remote_address} (${session.helo || 'no EHLO'})`,
    Listener: session.listener,
    TLS: session.tls ?? 'none',
    Account: session.accountId ?? 'nobody logged in',
    User: session.user ?? '-',
    Key: keyOf(session),
    Accepted: `${session.accepted} ${session.emailIds.join(' ')}`.trimEnd(),
    Refused: String(session.refused),
    Verdict: session.verdict,
  })
  if (session.transcript === null) return
  say()
  sayText(session.transcript)
}

/** Options of `sessions`. */
interface ListOptions {
  account?: string
  refused?: boolean
  limit: number
}

/** The key by which the program logged in; 'trusted' are networks that need none. */
const keyOf = ({ key_last4, accountId }: SubmissionSession) =>
  key_last4 === null ? (accountId === null ? '-' : 'trusted') : `…${key_last4}`

/** For a number of no session. */
const unknown = (given: string) =>
  new OperatorError(`There is no session ${given}; 'posthorn submission sessions' shows them`)

/** A session for scripts. */
const forMachines = (session: SubmissionSession) => ({
  id: String(session.id),
  beganAt: jsonTime(session.began_at),
  endedAt: jsonTime(session.ended_at),
  listener: session.listener,
  remoteAddress: session.remote_address,
  helo: session.helo,
  tls: session.tls,
  accountId: session.accountId,
  user: session.user,
  keyLast4: session.key_last4,
  accepted: session.accepted,
  refused: session.refused,
  verdict: session.verdict,
  emailIds: session.emailIds,
  transcript: session.transcript,
})
