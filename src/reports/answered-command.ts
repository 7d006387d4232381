import { codeIn, ownReply, withoutClosing } from './own-reply.js'

/**
 * A reply together with the command that it answered, if the report says that this was not RCPT: `550
 * User unknown (in reply to end of DATA command)`, as Postfix writes it. Then 'unknown' means the sender
 * (MAIL), or may be the words of the recipient's filter about an unwanted message (DATA).
 */
export function withCommand(text: string): (diagnostic: string) => string {
  // Most reports do not name the command, and cost no more than this test.
  if (!telling.test(text)) return (diagnostic) => diagnostic
  const words = text.slice(0, maxText).replace(/\s+/g, ' ')
  return (diagnostic) => {
    const command = inReply.test(diagnostic) ? undefined : commandBehind(words, diagnostic)
    return command === undefined ? diagnostic : inReplyTo(command, withoutClosing(diagnostic))
  }
}

/** A reply with the command that it answered, if that is known, in the words of the bounce rules. */
export const inReplyTo = (command: string | undefined, reply: string) =>
  command === undefined ? reply : `${reply.slice(0, maxReply)} (in reply to ${command} command)`

// The rules look at 1,000 characters.
const maxReply = 900

const maxText = 32 * 1024
const maxReplyChars = 60
const maxBefore = 500
// Sendmail writes a reply as a reason, in the dialogue and again in its own words.
const maxPlaces = 5
const maxAfter = 1_000

const inReply = /\(in reply to /i
const telling =
  /\(in reply to (?!RCPT)|^[ \t>]*>>> ?(?:MAIL|DATA)|\bSMTP error from |\bRemote host said:/im

function commandBehind(words: string, diagnostic: string): string | undefined {
  const reply = ownReply(diagnostic)
  // Without code and status, which reports leave out or write differently.
  const said = /^(?:[45]\d\d[- ]?)?(?:[45]\.\d{1,3}\.\d{1,3} )?(.*)$/s.exec(reply)?.[1] ?? ''
  if (codeIn(reply) === 0 || said === '') return undefined
  const sought = said.slice(0, maxReplyChars)
  let from = 0
  for (let tries = 0; tries < maxPlaces; tries++) {
    const at = words.indexOf(sought, from)
    if (at < 0) break
    const after = words.slice(at, at + maxAfter)
    const before = words.slice(Math.max(0, at - maxBefore), at)
    const command =
      postfixCommand(after) ||
      eximCommand(before) ||
      qmailCommand(before) ||
      dialogueCommand(before, after)
    if (command !== '') return command === 'RCPT TO' ? undefined : command
    from = at + 1
  }
  return undefined
}

/** `said: 550 … (in reply to end of DATA command)`, up to the next server's words. */
function postfixCommand(after: string): string {
  const named = /\(in reply to ([a-z ]{1,40}?)(?: command)?\)/i.exec(after)
  if (named === null || /\bsaid:/.test(after.slice(0, named.index))) return ''
  return known(named[1] ?? '')
}

/** `SMTP error from remote mail server after end of data: host …: 550 …` */
function eximCommand(before: string): string {
  const error = before.slice(Math.max(0, before.lastIndexOf('SMTP error from ')))
  return known(
    /^SMTP error from [a-z ]{1,40}? after (?:pipelined )?(end of data|data|mail from|rcpt to)\b/i.exec(
      error,
    )?.[1] ?? '',
  )
}

/** `Connected to 192.0.2.1 but sender was rejected. Remote host said: 550 …` */
function qmailCommand(before: string): string {
  const [sentence = ''] =
    /[^.]{1,60}\. Remote host said: (?:[45]\d\d[- ])?(?:[45]\.\d{1,3}\.\d{1,3} )?$/i.exec(before) ??
    []
  return qmailPhases.find(({ says }) => says.test(sentence))?.command ?? ''
}

const qmailPhases = [
  { says: /but my name was rejected/i, command: 'HELO' },
  { says: /but sender was rejected/i, command: 'MAIL FROM' },
  { says: /does not like recipient/i, command: 'RCPT TO' },
  { says: /failed on DATA command/i, command: 'DATA' },
  { says: /failed after I sent the message/i, command: 'end of DATA' },
]

/** `>>> DATA <<< 550 …`, if nothing else answers it. */
function dialogueCommand(before: string, after: string): string {
  if (!/<<< (?:[45]\d\d[- ])?(?:[45]\.\d{1,3}\.\d{1,3} )?$/.test(before)) return ''
  const asked = before.slice(Math.max(0, before.lastIndexOf('>>> ')))
  const named = /^>>> ?(MAIL FROM|RCPT TO|DATA)\b/i.exec(asked)?.[1] ?? ''
  if (!/^data$/i.test(named)) return known(named)
  const [answers = ''] = `${asked.slice(4)}${after}`.split(/>>> |talking to/, 1)
  // RFC 2920 §3.1: with PIPELINING, the reply to RCPT comes after DATA. DATA then has its own reply, or
  // Sendmail names the recipient.
  const replies = answers.match(/<<< [2-5]\d\d /g)?.length ?? 0
  const isOfRecipient = /(?<!<<< )\b55\d 5\.1\.1 <?[^ ]{1,320}\.\.\. /i.test(answers)
  return replies > 1 || isOfRecipient ? '' : known(named)
}

const known = (command: string) =>
  commands.find((name) => name.toLowerCase() === command.trim().toLowerCase()) ?? ''

const commands = ['HELO', 'EHLO', 'MAIL FROM', 'RCPT TO', 'DATA', 'end of DATA']
