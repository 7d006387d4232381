import { type Command, Option } from 'commander'
import { counted } from '../amounts/index.js'
import { OperatorError } from '../errors/index.js'
import {
  deleteOperatorMail,
  findOperatorMail,
  listOperatorMails,
  type OperatorMail,
} from '../inbound/index.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { withStore } from './database.js'
import { limitOption, rowNumber } from './option-values.js'
import {
  jsonTime,
  remark,
  say,
  sayFields,
  sayJson,
  sayTable,
  sayText,
  shownTime,
} from './output.js'
import { placeOf } from './place.js'

/** `posthorn postmaster`: RFC 5321 §4.5.1 wants postmaster@ to be read, RFC 2142 abuse@ as well. */
export function postmasterCommands(program: Command): void {
  const postmaster = program
    .command('postmaster')
    .description('what others wrote to postmaster@ and abuse@ of this host')
  addCommands(postmaster, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    about: 'show the mails, newest first',
    options: [limitOption()],
    help: 'Example:\n  $ posthorn postmaster list',
    run: runList,
  },
  {
    usage: 'show <id>',
    about: 'show a mail',
    options: [new Option('--raw', 'as it came, with all of its header')],
    help: 'Example:\n  $ posthorn postmaster show 243948816953344',
    run: runShow,
  },
  {
    usage: 'delete <id...>',
    about: 'delete mails',
    options: askOptions(),
    help: 'Example:\n  $ posthorn postmaster delete 243948816953344',
    run: runDelete,
  },
]

/** The newest first, senders and subjects cut to fit a line. */
async function runList({ limit }: { limit: number }, command: Command): Promise<void> {
  const place = placeOf(command)
  const found = await withStore(place, ({ store }) => listOperatorMails(store.read, limit + 1))
  const mails = found.slice(0, limit)
  if (place.json) return sayJson(mails.map(forMachines))
  sayTable(
    ['ID', 'RECEIVED', 'TO', 'FROM', 'SUBJECT'],
    mails.map((mail) => [
      String(mail.id),
      shownTime(mail.receivedAt),
      mail.recipient,
      (mail.headerFrom || mail.mailFrom).slice(0, 50),
      mail.subject.slice(0, 60),
    ]),
    'Nobody has written to postmaster@ or abuse@ yet',
  )
  if (found.length > limit) remark('There are more: --limit shows them')
}

/** The text part alone: a terminal shows no HTML, and --raw has all of it. */
async function runShow(given: string, { raw }: { raw?: boolean }, command: Command): Promise<void> {
  const place = placeOf(command)
  const mail = await withStore(place, ({ store }) =>
    findOperatorMail(store.read, rowNumber(given, unknown)),
  )
  if (mail === undefined) throw unknown(given)
  const { content } = mail
  if (raw) return void process.stdout.write(mail.raw)
  if (place.json) return sayJson({ ...forMachines(mail), text: content.text ?? null })
  sayFields({
    Received: `${shownTime(mail.receivedAt)} from ${mail.remoteAddress}`,
    To: mail.recipient,
    From: mail.headerFrom,
    Envelope: `<${mail.mailFrom}>`,
    Subject: mail.subject,
  })
  say()
  sayText(content.text?.trimEnd() || 'It has no text part; --raw shows all of it')
  for (const { filename, mimeType, sizeBytes } of content.attachments) {
    sayText(`[${filename}, ${mimeType}, ${sizeBytes} bytes]`)
  }
}

/** All or none: an unknown id rolls back the deletion of the others. */
async function runDelete(given: string[], options: AskOptions, command: Command): Promise<void> {
  const place = placeOf(command)
  const ids = given.map((one) => rowNumber(one, unknown))
  const isDeleted = await withStore(place, async ({ store }) => {
    const mails = await Promise.all(
      ids.map(async (id) => {
        const mail = await findOperatorMail(store.read, id)
        if (mail === undefined) throw unknown(String(id))
        return mail
      }),
    )
    if (!(await confirmed(place, options, deletionOf(mails)))) return false
    await store.write(async (tx) => {
      for (const id of ids) if (!(await deleteOperatorMail(tx, id))) throw unknown(String(id))
    })
    return true
  })
  if (!isDeleted) return
  if (place.json) return sayJson(ids.map((id) => ({ id: String(id), deleted: true })))
  for (const id of ids) say(`${id} is deleted`)
}

/** The question names each mail, as an id with a wrong digit is another mail's. */
const deletionOf = (mails: readonly OperatorMail[]): Intent => ({
  to: `delete ${counted(mails.length, 'mail')} to this host's postmaster`,
  facts: mails.map(
    ({ id, headerFrom, mailFrom, subject }) => `${id}, from ${headerFrom || mailFrom}: ${subject}`,
  ),
  counts: { mails: mails.map(forMachines) },
  how: 'moderate',
})

/** For an id of no mail. */
const unknown = (given: string) =>
  new OperatorError(`There is no mail ${given}; 'posthorn postmaster list' shows them`)

/** A mail for scripts, without its content. */
const forMachines = ({ id, receivedAt, ...mail }: OperatorMail) => ({
  id: String(id),
  receivedAt: jsonTime(receivedAt),
  recipient: mail.recipient,
  mailFrom: mail.mailFrom,
  headerFrom: mail.headerFrom,
  subject: mail.subject,
  remoteAddress: mail.remoteAddress,
  sizeBytes: mail.sizeBytes,
})
