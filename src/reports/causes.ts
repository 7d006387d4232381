import { repliesIn } from './dialogue.js'
import { entriesIn, type ReportEntry } from './entries.js'
import { addressesIn } from './fields.js'
import type { Message } from './message.js'
import { onlyRecipient, textBeforeOriginal } from './original.js'

/** A failed recipient ('' when it is not named) and what a bounce in plain words says about it. */
export interface Cause {
  address: string
  /** The server's reply, else the report's words; at most 1,000 characters, '' if there is none. */
  diagnostic: string
  /** The server that said so; '' when not told. */
  host: string
}

const maxText = 32 * 1024
const maxLines = 400
const maxRecipients = 100
const maxDiagnostic = 1_000

/**
 * What a report's text says about each recipient, at least one: if it names none, it is about the
 * returned message's recipient.
 */
export function causesIn(message: Message, text: string): Cause[] {
  const lines = text.split('\n', maxLines)
  const replies = repliesIn(lines)
  const entries = failedIn(message, lines, [...replies.keys()])
  // Sendmail's subject has the cause, and some programs with its form have it nowhere else.
  const named = /^returned mail: ((?:user|host) unknown)$/i.exec(message.header('subject'))?.[1]
  return entries.map(({ address, lines: behind }) => {
    const alone = entries.length === 1
    // The last entry of a list is followed by the text after the list.
    const own = untilHeading(behind)
    const replied = replies.get(address.toLowerCase())
    // Some programs name the recipients after the reply, in a paragraph of their own. With several
    // recipients the reply may be another's.
    const reply =
      replyIn(own) ??
      replied?.reply ??
      (alone ? (replyIn(lines) ?? named ?? reasonIn(lines)) : undefined)
    return {
      address,
      diagnostic: reply ?? (wordsIn(causeLines(own)) || (alone ? causeOfAll(lines) : '')),
      host: hostIn(own.join('\n')) || (replied?.host ?? ''),
    }
  })
}

/** The cause in a report about one recipient, if no line after its address has it. */
function causeOfAll(lines: readonly string[]): string {
  const failed = lines.findIndex((line) =>
    /\baddress\(?(?:es)?\)? (?:has |have |had )?failed:\s*$/i.test(line),
  )
  const listed = failed < 0 ? '' : wordsIn(causeLines(lines.slice(failed + 1)))
  return listed || wordsIn(untilHeading(lines)) || wordsIn(lines)
}

/**
 * Without the lines that Exim writes around the cause: the transport, the original address, and the introduction of
 * a program's words.
 */
const causeLines = (lines: readonly string[]) =>
  lines.filter((line) => !aroundCause.test(line)).map((line) => line.replace(/^[ \t]*-{6}.*$/, ''))

const aroundCause =
  /^[ \t]*(?:(?:-{6} )?(?:save to|pipe to|deliver to) |\(?(?:ultimately )?generated (?:by|from) |The following text was generated during the delivery)/i

/** `reject reason: Mailbox full`, `Grund: …`. */
function reasonIn(lines: readonly string[]): string | undefined {
  for (const line of lines) {
    const reason = reasonLine.exec(line.slice(0, 1_000))?.[1]
    if (reason !== undefined) return oneLine([reason])
  }
  return undefined
}

const reasonLine =
  /^[ \t>*]*(?:(?:reject(?:ion)?|bounce|failure|error) reason|reason(?: for (?:the )?(?:failure|rejection|non-delivery))?|error message|grund|fehler(?:meldung)?|ursache|raison|motif|motivo|causa|reden|przyczyna|причина|原因|理由)[ \t]*[:：][ \t]*(\S.*)$/i

/** Without the next section, the dialogue and the lines that gateways append: `****`, `____`. */
function untilHeading(lines: readonly string[]): readonly string[] {
  const at = lines.findIndex((line) => /^[ \t]*(?:-{3,}|={3,}|_{3,}|\*{3,}|>>>|<<<)/.test(line))
  return at < 0 ? lines : lines.slice(0, at)
}

/** A report's own text, without the returned message. */
export const reportText = ({ text }: Message) => textBeforeOriginal(text.slice(0, maxText))

/** Whether the report names an address other than its reader's and its author's. */
export const namesRecipients = (message: Message, text: string) =>
  listedIn(message, text.split('\n', maxLines)).length > 0

function failedIn(message: Message, lines: readonly string[], replied: readonly string[]) {
  const entries = listedIn(message, lines)
  if (entries.length > 0) return entries
  const named = addressesIn(message.header('x-failed-recipients'), maxRecipients)
  const addresses = [named, replied].find(({ length }) => length > 0) ?? [onlyRecipient(message)]
  return addresses.slice(0, maxRecipients).map((address) => ({ address, lines: [] }))
}

function listedIn(message: Message, lines: readonly string[]): ReportEntry[] {
  const { header } = message
  const named = addressesIn(header('x-failed-recipients'), maxRecipients)
  const only = onlyRecipient(message)
  // A report greets its reader and says whom to ask. Neither is a failed recipient, unless somebody
  // wrote to their own address.
  const others = new Set(addressesIn(`${header('to')}, ${header('from')}`, maxRecipients))
  const isOther = (address: string) =>
    others.has(address) && address !== only && !named.includes(address)
  const dialogue = lines.findIndex((line) => /^[ \t>*]*-{2,}[ \t]*transcript of/i.test(line))
  const before = dialogue < 0 ? lines : lines.slice(0, dialogue)
  const entries = entriesIn(before, isOther)
  if (entries.length > 0) return entries
  // An address with a server's reply is no greeting: somebody did write to their own address.
  return entriesIn(before).filter((entry) => replyIn(untilHeading(entry.lines)) !== undefined)
}

/** What the server said, from its code to the end of the paragraph. */
function replyIn(lines: readonly string[]): string | undefined {
  const text = unquoted(lines)
  const reply = replyStart.exec(text)
  if (reply === null) return undefined
  const opened = reply[1] ?? ''
  const cause = oneLine(text.slice(reply.index + opened.length).split(/\n\s*\n/, 1))
    // `(550) User unknown`, `[550] …`
    .replace(/^([45]\d\d)[)\]]:?/, '$1')
  // A bracket or quote opened before the code is closed after it: `(reason: 550 …)`, `returned '550
  // …'`.
  if (opened === '[') return cause.replace(/\]$/, '')
  const closes = /^[("'<]$/.test(opened) || !cause.includes('(')
  return closes ? cause.replace(/[)'"]$/, '') : cause
}

const wordsIn = (lines: readonly string[]) =>
  oneLine(
    unquoted(lines)
      .trim()
      .split(/\n\s*\n/)
      .filter((paragraph) => /[\p{L}\p{N}]/u.test(paragraph))
      .slice(0, maxParagraphs),
  )

// The first paragraphs often have only a greeting and what was tried.
const maxParagraphs = 4

const unquoted = (lines: readonly string[]) =>
  lines.map((line) => line.replace(/^[ \t>#]+/, '')).join('\n')

const oneLine = (paragraphs: readonly string[]) =>
  paragraphs.join(' ').replace(/\s+/g, ' ').trim().slice(0, maxDiagnostic)

// `<<< 550 …`, `said: 550-5.1.1 …`, `#550 5.1.1 …`, `(reason: 552 …`, `554: delivery error`, `[550 …]`.
// Not `500 seconds`.
const replyStart =
  /(^|[\s:;#(<'"[])(?=[45]\d\d(?:[- ]#?[45]\.\d{1,3}\.\d{1,3}|[)\]](?![ \t]*\d)|[-: ] ?(?!(?:seconds?|minutes?|hours?|days?|messages?|recipients?)\b)[^\s\d]))/

function hostIn(text: string): string {
  const found =
    /\b(?:host|talking to|server|server for the recipient domain [^\s]{1,253} by)[: ]+<?([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10})/i.exec(
      text,
    )
  return found?.[1]?.toLowerCase() ?? ''
}
