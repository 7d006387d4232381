import { readFileSync, statSync } from 'node:fs'
import { Argument, type Command, Option } from 'commander'
import { bounceRuleFiles } from '../app/files.js'
import { OperatorError } from '../errors/index.js'
import {
  type BounceRules,
  classify,
  loadBounceRules,
  type Report,
  readReport,
  saidInReply,
  saidOf,
  type Verdict,
} from '../reports/index.js'
import { parkedRows } from './bounce-parked.js'
import { addCommands, type CommandRow } from './command-row.js'
import { say, sayFields, sayJson } from './output.js'
import { type CommandPlace, placeOf } from './place.js'

/** The rules that the appliance has at its next start. */
export const bounceRulesOf = ({ dataDir }: CommandPlace): BounceRules =>
  loadBounceRules(bounceRuleFiles(dataDir))

/** `posthorn bounce`: what the rules make of a reply, and reports that could not be filed. */
export function bounceCommands(program: Command): void {
  const bounce = program
    .command('bounce')
    .description('what receivers mean by their refusals; reports that cannot be filed')
  addCommands(bounce, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'explain',
    about: "show what is concluded from a server's reply or from a report, and by which rule",
    values: [
      new Argument(
        '<reply or file>',
        'a reply such as "550 5.1.1 User unknown", a mail, - for stdin',
      ),
    ],
    options: [new Option('--host <name>', 'the server that said so: some have words of their own')],
    help: `Examples:
  $ posthorn bounce explain '550 5.1.1 User unknown'
  $ posthorn bounce explain '550 5.5.0 Requested action not taken: mailbox unavailable' \\
      --host mx.olc.protection.outlook.com
  $ posthorn bounce explain returned.eml

Nothing is changed by it. Rules of your own go into bounce-rules.toml in the data directory or in
/etc/posthorn; config/bounce-rules.toml describes their form.`,
    run: runExplain,
  },
  ...parkedRows,
]

/**
 * A reply begins with three digits (RFC 5321 §4.2), and a mail never does, so one argument can be
 * either. The rules are those that the running appliance has: built in, with the operator's own
 * before them.
 */
async function runExplain(
  input: string,
  { host }: { host?: string },
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const rules = bounceRulesOf(place)
  const reply = saidInReply(input.trim(), host)
  if (reply !== undefined) {
    const verdict = classify(rules, reply)
    return place.json ? sayJson(verdict) : sayFields(verdictFields(verdict, reply.code))
  }
  const explained = explain(rules, await readReport(readMail(input)), host)
  if (place.json) sayJson(explained)
  else sayReport(explained)
}

/**
 * A file that is missing is far more often a reply that was not quoted than a file with that name.
 */
function readMail(file: string): Buffer {
  if (file === '-') return readFileSync(0)
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new OperatorError(
      `"${file}" is neither a file nor a reply: a reply begins with its code, such as 550`,
    )
  }
  return readFileSync(file)
}

type Explained = ReturnType<typeof explain>

/**
 * Only a recipient whose action is `failed` gets a verdict (RFC 3464 §2.3.3): `delayed` is a
 * warning and `delivered` a success.
 */
function explain(rules: BounceRules, report: Report, host: string | undefined) {
  if (report.kind !== 'dsn') return report
  const recipients = report.recipients.map((recipient) => {
    const said = saidOf(recipient, host ?? report.reportingMta)
    return {
      ...recipient,
      verdict: recipient.action === 'failed' ? classify(rules, said) : undefined,
    }
  })
  return { ...report, recipients }
}

/**
 * A report without one of our return paths has no effect, however true it is: a Message-ID alone
 * can be copied from any mail.
 */
function sayReport(report: Explained): void {
  sayFields({
    Kind: kindOf(report),
    'Return paths in it': report.tokens.join(', ') || 'none: it has no effect on its own',
    'Message-ID': report.original.messageId || 'not told',
  })
  if (report.kind !== 'dsn') return
  for (const { action, finalRecipient, status, diagnostic, verdict } of report.recipients) {
    say()
    sayFields({
      Recipient: finalRecipient || 'not told',
      Action: [action, status].join(' '),
      Said: diagnostic || 'nothing',
      ...(verdict === undefined ? { Event: 'none: it has not failed' } : verdictFields(verdict)),
    })
  }
}

/** What a mail is: a DSN (RFC 3464), feedback (RFC 5965), or neither, and why. */
function kindOf(report: Explained): string {
  if (report.kind === 'dsn') return `report about a delivery (${report.form})`
  if (report.kind !== 'arf') return `${report.kind}: ${report.why}`
  const { type, means } = report.feedback
  const effect = { complaint: 'a complaint', unsubscribe: 'an unsubscribe', nothing: 'only noted' }
  return `feedback "${type}" (${report.form}): ${effect[means]}`
}

/** With a code: a live reply, which another attempt may follow. */
function verdictFields(verdict: Verdict, code?: number): Record<string, string> {
  const { class: name, rule, suppress, soft, retry, event, bounceType } = verdict
  const retries = typeof retry === 'object' ? `until there were ${retry.atMost}` : words[retry]
  const ending = event === 'failed' ? 'failed' : `bounced, ${bounceType}`
  return {
    Class: name,
    Rule: rule,
    ...(code === undefined ? {} : { 'Another attempt': retries }),
    'Address is suppressed': suppress
      ? 'at once'
      : soft
        ? 'for 30 days, when 3 mails in a row, over 72 hours, failed so'
        : 'no',
    Event: code === undefined || code >= 500 ? ending : 'none: it is tried again',
  }
}

/**
 * For how long mail is tried again after such a reply; `slow` is hours apart, as for a greylist
 * that learns slowly or a full mailbox.
 */
const words = {
  no: 'no',
  once: 'one more',
  yes: 'until the mail expires',
  slow: 'until the mail expires, hours apart',
} as const
