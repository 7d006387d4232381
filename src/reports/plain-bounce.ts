import { bounceForms, delayMarks } from './bounce-forms.js'
import { statusIn } from './classify.js'
import { addressIn } from './fields.js'
import type { Message } from './message.js'
import { textBeforeOriginal } from './original.js'
import type { ReportedRecipient } from './report.js'

export interface PlainBounce {
  form: string
  recipients: ReportedRecipient[]
}

const maxText = 32 * 1024
const maxLines = 400
const maxRecipients = 100
const maxDiagnostic = 1_000

/** A bounce that is written for people alone; undefined where nothing shows that it is one. */
export function readPlainBounce(message: Message): PlainBounce | undefined {
  const form = formOf(message)
  if (form === undefined) return undefined
  const text = reportText(message)
  const words = flat(text)
  const action = delayMarks.some((mark) => words.includes(mark)) ? 'delayed' : 'failed'
  const all = text.split('\n', maxLines)
  const entries = entriesIn(all)
  const named = message.header('x-failed-recipients').split(',').map(addressIn).filter(Boolean)
  const causes =
    entries.length > 0
      ? entries
      : [named[0] ?? '', ...named.slice(1, maxRecipients)].map((address) => ({
          address,
          lines: [],
        }))
  return {
    form,
    recipients: causes.map(({ address, lines }) => {
      // Some name the recipients after the reply, in a paragraph of their own.
      const told = replyIn(lines) ?? (causes.length === 1 ? replyIn(all) : undefined)
      const diagnostic = told ?? (wordsIn(lines) || wordsIn(all))
      return {
        action,
        status: statusIn(diagnostic) ?? '',
        diagnostic,
        remoteMta: hostIn(lines.join('\n')),
        originalRecipient: '',
        finalRecipient: address,
      }
    }),
  }
}

/**
 * What the readable part of a report says about one of its recipients, '' if nothing; with `alone`
 * also about one that it spells otherwise, as no other is meant.
 */
export function causeFor(message: Message, recipient: string, alone: boolean): string {
  const entries = entriesIn(reportText(message).split('\n', maxLines))
  const own = entries.filter(({ address }) => address.toLowerCase() === recipient.toLowerCase())
  const entry = own[0] ?? (alone && entries.length === 1 ? entries[0] : undefined)
  return entry === undefined ? '' : (replyIn(entry.lines) ?? wordsIn(entry.lines))
}

function formOf(message: Message): string | undefined {
  const words = flat(reportText(message))
  const form = bounceForms.find(({ marks }) => marks.some((mark) => words.includes(mark)))
  if (form !== undefined && form.loose !== true) return form.name
  const bySystem =
    mailSystem.test(message.header('from')) || message.header('x-failed-recipients') !== ''
  if (!bySystem) return undefined
  return form?.name ?? (failing.test(message.header('subject')) ? 'other' : undefined)
}

const mailSystem = /mailer-?daemon|postmaster|mail (?:delivery|system|server)|system administrator/i
const failing =
  /undeliver|returned mail|delivery (?:status notification|failure|failed|has failed|problem)|failure notice|mail failure|non[- ]remis|unzustellbar|no se puede entregar|nondeliverable/i

const reportText = ({ text }: Message) => textBeforeOriginal(text.slice(0, maxText))

const flat = (text: string) =>
  text
    .toLowerCase()
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/\s+/g, ' ')

interface Entry {
  address: string
  lines: string[]
}

/**
 * An address that begins a line, and what follows up to the next one: the form in which all of
 * them name recipients and causes (`<a@b>: host … said: 550 …`, `a@b\n  SMTP error …`).
 */
function entriesIn(lines: readonly string[]): Entry[] {
  const entries: Entry[] = []
  for (const line of lines) {
    const opening = entryLine.exec(line.slice(0, 1_000))
    const address = addressIn(opening?.[1])
    const last = entries.at(-1)
    if (opening !== null && address !== '' && last?.address !== address) {
      if (entries.length === maxRecipients) break
      entries.push({
        address,
        lines: [opening[2] ?? opening[3]?.replace(/\)$/, '') ?? opening[4] ?? ''],
      })
    } else last?.lines.push(line.trim())
  }
  return entries.filter(({ lines: cause }) => cause.join('').trim() !== '' || entries.length === 1)
}

// `<a@b>:`, `a@b`, `"a@b":`, `a@b<mailto:a@b>`, `a@b on 29/4/2010 12:00`, `<a@b>: host … said …`,
// `a@b (user not found)`, `a@b Invalid Address, ERROR_CODE :550`.
const entryLine =
  /^[ \t>*]*["'[]?(<?[^\s<>"':,;()[\]]{1,64}@[^\s<>"':,;()[\]]{1,253}>?)["'\]]?(?:<mailto:[^<>\s]{1,320}>|[ \t]*\(mailto:[^()\s]{1,320}\))?[ \t]*(?:$|:(.*)$|\((.*)$|on (?:[a-z]{3}, )?\d.*$|-.*$|(?<=\s)(?=invalid)(.*)$)/i

/** What the server said, from its code to the end of the paragraph. */
function replyIn(lines: readonly string[]): string | undefined {
  const text = unquoted(lines)
  const reply = replyStart.exec(text)
  if (reply === null) return undefined
  const opened = reply[1] ?? ''
  const cause = oneLine(text.slice(reply.index + opened.length).split(/\n\s*\n/, 1))
  // What was opened before the code is closed after it: `(reason: 550 …)`, `returned '550 …'`.
  const closes = /^[("'<]$/.test(opened) || !cause.includes('(')
  return closes ? cause.replace(/[)'"]$/, '') : cause
}

const wordsIn = (lines: readonly string[]) =>
  oneLine(
    unquoted(lines)
      .trim()
      .split(/\n\s*\n/, 2),
  )

const unquoted = (lines: readonly string[]) =>
  lines.map((line) => line.replace(/^[ \t>#]+/, '')).join('\n')

const oneLine = (paragraphs: readonly string[]) =>
  paragraphs.join(' ').replace(/\s+/g, ' ').trim().slice(0, maxDiagnostic)

// `<<< 550 …`, `said: 550-5.1.1 …`, `#550 5.1.1 …`, `(reason: 552 …`, `554: delivery error`.
const replyStart = /(^|[\s:;#(<'"])(?=[45]\d\d(?:[- ]#?[45]\.\d{1,3}\.\d{1,3}|[-: ] ?[^\s\d]))/

function hostIn(text: string): string {
  const found =
    /\b(?:host|talking to|server|server for the recipient domain [^\s]{1,253} by)[: ]+<?([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10})/i.exec(
      text,
    )
  return found?.[1]?.toLowerCase() ?? ''
}
