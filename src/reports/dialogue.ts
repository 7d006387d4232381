import { addressIn } from './fields.js'

/** What an SMTP dialogue quoted by a bounce says about one recipient. */
export interface Replied {
  reply: string
  /** The server that said so; '' if not told. */
  host: string
}

const maxReply = 1_000

/**
 * Reads the dialogue (`>>> RCPT TO:<a@b>`, `<<< 550 …`, `550 <a@b>... User unknown`) as Sendmail and
 * many successors quote it: by recipient, in lower case. A reply counts for the recipient that it
 * names or that was asked for; another recipient's reply says nothing about this one.
 */
export function repliesIn(lines: readonly string[]): Map<string, Replied> {
  const replies = new Map<string, Replied>()
  let asked = ''
  let host = ''
  let open: Replied | undefined
  let before = ''
  for (const line of lines) {
    if (line.trim() === '') continue
    const last = before
    before = line.slice(0, 1_000)
    if (!dialogueLine.test(line)) continue
    const text = line.slice(0, 1_000)
    const talking = /\bwhile talking to <?([a-z0-9.-]{1,253})/i.exec(text)?.[1]
    if (talking !== undefined) host = talking.toLowerCase().replace(/\.+$/, '')
    const command = /^[ \t>]*>>>[ \t]*(.*)$/.exec(text)?.[1]
    if (talking !== undefined || command !== undefined) {
      asked = /^RCPT TO/i.test(command ?? '') ? addressIn(command).toLowerCase() : ''
      open = undefined
      continue
    }
    const said = replyLine.exec(text)
    if (said === null) {
      const [, named = '', words = ''] = ownLine.exec(text) ?? []
      const about = addressIn(named).toLowerCase()
      // A reply before this line says more.
      const isAll = about !== '' && !replyLine.test(last)
      if (isAll && !replies.has(about)) replies.set(about, { reply: words, host })
      continue
    }
    const [, quoted, code = '', end, words = ''] = said
    const named = addressBehindCode(words)
    const about = named || (quoted === undefined ? '' : asked)
    if (named === '' && open?.reply.startsWith(code)) {
      open.reply = `${open.reply} ${code}${end}${words}`.slice(0, maxReply)
    } else if (about !== '' && !replies.has(about)) {
      const isVague = quoted === undefined && vague.test(words)
      open = { reply: (isVague && causeIn(last)) || `${code}${end}${words}`, host }
      replies.set(about, open)
    } else open = undefined
  }
  return replies
}

// Most lines of a report belong to no dialogue.
const dialogueLine = /^[ \t>]*(?:>>>|<<<|[45]\d\d[- ])|\btalking to|\.\.\. deferred:/i

// `<a@b>... Deferred: Connection refused by mx.b.`: no reply was received.
const ownLine = /^[ \t]*(<?[^\s<>]{1,64}@[^\s<>]{1,253}?>?)\.\.\. (Deferred: .*)$/i

// Here Sendmail says only that it failed; the line before says why: a reply to MAIL, or a local
// mailer.
const vague = /\.\.\. (?:Service unavailable|Remote protocol error|Unknown error)$/i

/** `<<< 501 no access`, `mail.local: unknown user: ada`; '' if it is no cause. */
function causeIn(line: string): string {
  const [, , code, end, words] = /^[ \t>]*<<</.test(line) ? (replyLine.exec(line) ?? []) : []
  if (code !== undefined) return `${code}${end}${words}`
  return /^[a-z][a-z0-9._/-]{1,60}: ./i.test(line) ? line : ''
}

// `<<< 550-5.1.1 …`, `550 5.1.1 <a@b>... User unknown`.
const replyLine = /^[ \t>]*(<<<[ \t]*)?([45]\d\d)([- ])(.*)$/

/** `5.1.1 <a@b>... User unknown` is about a@b; a later address may be anybody's. */
function addressBehindCode(words: string): string {
  const found = /^(?:[45]\.\d{1,3}\.\d{1,3}[ \t]+)?(<?[^\s<>]{1,64}@[^\s<>]{1,253}>?)/.exec(words)
  return addressIn(found?.[1]).toLowerCase()
}
