import { addressIn } from './fields.js'

/** A recipient that a bounce names, and the lines that belong to it. */
export interface ReportEntry {
  address: string
  lines: string[]
}

const maxEntries = 100

/**
 * An address at the beginning of a line or after a label, with the lines up to the next one: the
 * form in which all programs name recipients and causes (`<a@b>: host … said: 550 …`, `a@b\n SMTP
 * error …`, `Recipient: <a@b>`). Addresses for which `isOther` holds are not recipients.
 */
export function entriesIn(
  lines: readonly string[],
  isOther: (address: string) => boolean = () => false,
): ReportEntry[] {
  const entries: ReportEntry[] = []
  let last: ReportEntry | undefined
  let lastIndent = 0
  let before = ''
  // The last line that is not empty.
  let said = ''
  for (const line of lines) {
    const indent = line.search(/\S|$/)
    // A folded line of a server's words may begin with an address.
    const isFolded = last !== undefined && before.trim() !== '' && indent > lastIndent
    const isSender = /\b(?:sent by|sender|from):?\s*$/i.test(said)
    const opened = isFolded || isSender ? undefined : openedBy(line.slice(0, 1_000))
    before = line
    if (line.trim() !== '') said = line.slice(0, 1_000)
    if (opened === undefined || isOther(opened.address) || opened.address === last?.address) {
      last?.lines.push(line.trim())
      continue
    }
    lastIndent = indent
    last = entries.find(({ address }) => address === opened.address)
    if (last !== undefined) last.lines.push(...opened.lines)
    else if (entries.length === maxEntries) break
    else {
      last = opened
      entries.push(opened)
    }
  }
  return entries
}

function openedBy(line: string): ReportEntry | undefined {
  if (!line.includes('@')) return undefined
  const [, first, ...rest] = entryLine.exec(line) ?? []
  if (first !== undefined) return entryOf(first, rest.find((group) => group !== undefined) ?? '')
  const [, cause = '', named = ''] = causeFirst.exec(line) ?? []
  if (named !== '' && !ofOthers.test(cause)) return entryOf(named, cause)
  const [, labelled, after = ''] = labelledLine.exec(line) ?? []
  return labelled === undefined ? undefined : entryOf(labelled, after)
}

function entryOf(text: string, cause: string): ReportEntry | undefined {
  const address = addressIn(text)
  if (address === '') return undefined
  // `(user not found)`, `[User unknown]`
  return {
    address,
    lines: [
      cause
        .replace(/^[ \t]*[[(](.*)[)\]][ \t]*$/, '$1')
        .replace(/^[)\]]/, '')
        .trim(),
    ],
  }
}

const anAddress = String.raw`<?(?:"[^"\n]{1,62}"|[^\s<>"':,;()[\]]{1,64})@[^\s<>"':,;()[\]]{1,253}>?`

// `<a@b>:`, `a@b`, `"a@b":`, `a@b<mailto:a@b>`, `a@b on 29/4/2010 12:00`, `<a@b>: host … said …`,
// `a@b (user not found)`, `a@b [User unknown]`, `a@b ... unknown host`, `a@b Invalid Address,
// ERROR_CODE :550`, `a@b <a@b>`.
const entryLine = new RegExp(
  String.raw`^[ \t>*]*["'[]?(${anAddress})["'\]]?` +
    String.raw`(?:<mailto:[^<>\s]{1,320}>|[ \t]*\(mailto:[^()\s]{1,320}\)|[ \t]+<[^<>\s@]{1,64}@[^<>\s]{1,253}>)?` +
    String.raw`[ \t]*(?:$|:(.*)$|([(\[].*)$|\.{3}(.*)$|;[ \t]*(.*)$|on (?:[a-z]{3}, )?\d.*$|-+(.*)$|(?<=\s)(?=invalid|error|user)(.*)$)`,
  'i',
)

// `User mailbox exceeds allowed size: a@b`, `Unknown user: a@b`.
const causeFirst = new RegExp(
  String.raw`^[ \t>*]*([a-z][a-z0-9',./-]{0,30}(?:[ \t]+[a-z0-9',./-]{1,30}){1,12})[ \t]*:[ \t]*(${anAddress})[ \t]*$`,
  'i',
)
const ofOthers = /\b(?:sender|from|by|sent|reply|contact|help|support|postmaster|administrator)\b/i

// `Recipient: <a@b>`, `>>> RCPT TO:<a@b>`, `Unable to deliver message to <a@b>`, `Your message wasn't
// delivered to a@b because …`, `addressed to 'a@b'`.
const labelledLine = new RegExp(
  String.raw`(?:^|[ \t*>-])(?:(?:recipients?|addressees?|address|users?|user ?id|mailbox|error-for)(?: address| name| returned (?:permanent|temporary) errors?)?[ \t]*:|rcpt to:|\(generated from|;?dda:smtp=|addressed to|local mailbox|rejected recipient|` +
    String.raw`(?:un)?deliver(?:ed|y|ing|able)?(?:[ \t]+[a-z']{1,20}){0,6}[ \t]+to:?|your (?:message|e?-?mail)(?: [a-z]{1,12})? to(?: group)?)` +
    String.raw`[ \t]*["']?(${anAddress})["']?[.,:]?[ \t]*(.*)$`,
  'i',
)
