import type { Command } from 'commander'
import * as operations from '../receiving/contract.js'
import {
  deleteReceived,
  receivedAnswer,
  receivedMailAnswer,
  receivedSource,
} from '../receiving/index.js'
import { answering, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed } from './confirm.js'
import { accountOption, chosenAccount, withStore } from './database.js'
import { fieldOptions } from './field-options.js'
import { withHints } from './limits.js'
import { limitOption } from './option-values.js'
import { cut, say, sayFields, sayTable, sayText, shownTime } from './output.js'
import { placeOf } from './place.js'

/** `posthorn received`: mail that came in. */
export function receivedCommands(program: Command): void {
  const received = program.command('received').description('mail that came in for an account')
  addCommands(received, rows)
}

const example = '01a1fc92-9915-7533-8296-04ee3d91dd72'

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    does: operations.listReceived,
    isDefault: true,
    about: 'show the mail that came in, newest first',
    options: [accountOption(), ...fieldOptions(operations.receivedFilters), limitOption(50)],
    help: 'Example:\n  $ posthorn received list --recipient support@in.example.com',
    run: answering(list),
  },
  {
    usage: 'show <id>',
    does: operations.getReceived,
    about: 'show a mail that came in: its text, who has sent it, and its files',
    options: [accountOption()],
    help: `Example:\n  $ posthorn received show ${example}`,
    run: answering(show),
  },
  {
    usage: 'raw <id>',
    about: 'write a mail as it came, byte for byte',
    options: [accountOption()],
    help: `Example:\n  $ posthorn received raw ${example} > mail.eml`,
    run: raw,
  },
  {
    usage: 'delete <id>',
    does: operations.deleteReceived,
    about: 'delete a mail that came in, with its files',
    options: [...askOptions(), accountOption()],
    help: `Example:\n  $ posthorn received delete ${example}`,
    run: answering(remove),
  },
]

type ListOptions = Omit<Parameters<typeof receivedAnswer>[2], 'cursor'>

async function list({ store: { read }, account }: CommandDeps, options: ListOptions) {
  const { recipient, from, emailId, ruleId, state, receivedAfter, receivedBefore, limit } = options
  const filter = { recipient, from, emailId, ruleId, state, receivedAfter, receivedBefore, limit }
  const json = await receivedAnswer(read, (await account()).id, filter)
  return {
    json,
    say: () =>
      sayTable(
        ['ID', 'RECEIVED', 'TO', 'FROM', 'SUBJECT', 'DMARC', 'STATE'],
        json.received.map((one) => [
          one.id,
          shownTime(Date.parse(one.receivedAt)),
          cut(one.recipient, 40),
          cut(one.from, 40),
          cut(one.subject, 60),
          one.checks?.dmarc ?? '-',
          one.state,
        ]),
        "No mail came in; 'posthorn receiving list' shows for which addresses it is taken",
      ),
  }
}

const unknown = { not_found: "'posthorn received list' shows them" }

async function show({ store: { read }, account }: CommandDeps, id: string) {
  const mail = await withHints(unknown, async () =>
    receivedMailAnswer(read, (await account()).id, id.toLowerCase()),
  )
  return {
    json: mail,
    say() {
      const { checks, forward } = mail
      sayFields({
        To: mail.recipient,
        From: `${mail.from} (envelope <${mail.envelopeFrom}>)`,
        Subject: mail.subject,
        Received: shownTime(Date.parse(mail.receivedAt)),
        ...(mail.emailId === null ? {} : { Answers: mail.emailId }),
        ...(checks === null
          ? {}
          : {
              Checks: `SPF ${checks.spf}, DKIM ${checks.dkim}, DMARC ${checks.dmarc}, ARC ${checks.arc}`,
            }),
        ...(mail.automatic === null ? {} : { 'Sent by a machine': mail.automatic }),
        ...(mail.fault === null ? {} : { 'Cannot be read': mail.fault }),
        ...(mail.spam === null
          ? {}
          : { Spam: `${mail.spam.score} of ${mail.spam.required}, ${mail.spam.action}` }),
        ...(forward === null
          ? {}
          : {
              Forwarded: `to ${forward.to}: ${[forward.status ?? 'not yet', forward.detail ?? []].flat().join(': ')}`,
            }),
        ...Object.fromEntries(
          mail.attachments.map((one) => [
            `File ${one.number}`,
            `${one.filename} (${one.contentType}, ${one.size} bytes)`,
          ]),
        ),
      })
      say()
      sayText(mail.text ?? 'It has no text')
      if (mail.quoted !== null) sayText(`\nIt quotes:\n${mail.quoted}`)
    },
  }
}

async function raw(id: string, { account }: { account?: string }, command: Command): Promise<void> {
  await withStore(placeOf(command), async ({ store: { read } }) => {
    const { id: accountId } = await chosenAccount(read, account)
    await withHints(unknown, async () => {
      const { pieces } = await receivedSource(read, accountId, id.toLowerCase())
      for await (const piece of pieces) {
        process.stdout.write(piece)
      }
    })
  })
}

async function remove(deps: CommandDeps, id: string, options: AskOptions) {
  const { id: accountId } = await deps.account()
  const { subject, from, ...mail } = await withHints(unknown, () =>
    receivedMailAnswer(deps.store.read, accountId, id.toLowerCase()),
  )
  const intent = {
    to: `delete "${subject}" from ${from}`,
    facts: [],
    counts: { mails: 1 },
    how: 'mild',
  } as const
  if (!(await confirmed(deps.place, options, intent))) return
  await deleteReceived(deps, accountId, mail.id)
  const message = 'Mail deleted, with its files'
  return { json: { id: mail.id, deleted: true, message }, say: () => say(message) }
}
