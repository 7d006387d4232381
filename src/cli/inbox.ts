import { type Command, Option } from 'commander'
import * as operations from '../sandbox/contract.js'
import {
  clearedAnswer,
  clearMessages,
  countMessages,
  testMailAnswer,
  testMailsAnswer,
} from '../sandbox/index.js'
import { answering, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed } from './confirm.js'
import { accountOption } from './database.js'
import { limitOption } from './option-values.js'
import { cut, say, sayTable, shownTime } from './output.js'

/** `posthorn inbox`: what an account's test keys have sent. */
export function inboxCommands(program: Command): void {
  const inbox = program.command('inbox').description('what an account has sent by its test keys')
  addCommands(inbox, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    does: operations.listTestMails,
    about: 'show the test inbox, newest first',
    options: [
      accountOption(),
      new Option('--to <address>', 'only copies to this address'),
      new Option('--subject <text>', 'only with this in the subject'),
      new Option('--email-id <id>', 'only copies of this mail'),
      limitOption(50),
    ],
    help: `Example:
  $ posthorn key create CI --scope test
  $ posthorn inbox list --to ann@example.org`,
    run: answering(list),
  },
  {
    usage: 'show <id>',
    does: operations.getTestMail,
    about: 'show a message of the test inbox',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn inbox show 8126464123904',
    run: answering(show),
  },
  {
    usage: 'clear',
    does: operations.clearTestMails,
    about: 'empty the test inbox',
    options: [...askOptions(), accountOption()],
    help: 'Example:\n  $ posthorn inbox clear --yes',
    run: answering(clear),
  },
]

interface ListOptions {
  to?: string
  subject?: string
  emailId?: string
  limit: number
}

async function list({ store: { read }, account }: CommandDeps, options: ListOptions) {
  const { to, subject, emailId, limit } = options
  const inbox = { read, accountId: (await account()).id }
  const json = await testMailsAnswer(inbox, { to, subject, emailId, limit })
  return {
    json,
    say: () =>
      sayTable(
        ['ID', 'RECEIVED', 'TO', 'SUBJECT', 'DKIM SPF DMARC'],
        json.messages.map((one) => [
          String(one.id),
          shownTime(Date.parse(one.receivedAt)),
          cut(one.to.join(', '), 60),
          cut(one.subject, 60),
          one.checks === null
            ? 'not checked yet'
            : [one.checks.dkim, one.checks.spf, one.checks.dmarc].join(' '),
        ]),
        "Nothing here; 'posthorn key create NAME --scope test' makes a key whose mail comes here",
      ),
  }
}

async function show({ store: { read }, account }: CommandDeps, id: string) {
  const message = await testMailAnswer({ read, accountId: (await account()).id }, numberOf(id))
  return {
    json: { message },
    say() {
      for (const { name, value } of message.headers) say(`${name}: ${value}`)
      say('')
      say(message.text ?? message.html ?? '')
    },
  }
}

/** An id as it was typed; text that is no id becomes the id of no message. */
const numberOf = (id: string) => (/^\d{1,15}$/.test(id) ? Number(id) : 0)

async function clear(deps: CommandDeps, options: AskOptions) {
  const { read, write } = deps.store
  const { id: accountId, name } = await deps.account()
  const inbox = { read, write, accountId }
  const messages = await countMessages(inbox)
  const intent = {
    to: `delete the ${messages} messages of the test inbox of "${name}"`,
    facts: ['The mails themselves stay in the log'],
    counts: { messages },
    how: 'mild',
  } as const
  if (!(await confirmed(deps.place, options, intent))) return
  const json = clearedAnswer(await clearMessages(inbox))
  return { json, say: () => say(`${json.cleared} messages are deleted`) }
}
