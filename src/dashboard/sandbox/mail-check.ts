import { hasRemotePictures } from '../../mime/index.js'
import type { SandboxMessage } from '../../sandbox/index.js'
import { fileSize } from '../format.js'
import type { CheckTone } from './verdict-words.js'

/** Something that filters, clients or readers dislike about a mail, or that is as it should be. */
export interface MailFinding {
  check: string
  tone: CheckTone
  sentence: string
}

/** What can be seen without asking anybody: size, parts, headers, unsubscribing. The bad findings come first. */
export function checkMail(message: SandboxMessage): MailFinding[] {
  const found = [
    ...sizeFindings(message),
    ...subjectFindings(message.subject),
    ...partFindings(message),
    ...headerFindings(message),
    ...unsubscribeFindings(message),
  ]
  const rank = { bad: 0, doubt: 1, good: 2, none: 3 }
  return found.sort((a, b) => rank[a.tone] - rank[b.tone])
}

const finding = (check: string, tone: CheckTone, sentence: string): MailFinding => ({
  check,
  tone,
  sentence,
})

// How much of a mail Gmail shows before 'View entire message', in bytes of its HTML, as senders have measured it.
export const gmailClipBytes = 102 * 1024

/** Whether Gmail shows the whole mail, and whether servers accept it. */
function sizeFindings({ content, sizeBytes }: SandboxMessage): MailFinding[] {
  const html = Buffer.byteLength(content.html ?? '')
  if (content.html === undefined) return []
  const size = `The HTML has ${fileSize(html)}`
  const clip =
    html > gmailClipBytes
      ? finding(
          'Size',
          'bad',
          `${size}: Gmail clips a mail at 102 kB and hides the rest, with the unsubscribe link.`,
        )
      : finding(
          'Size',
          html > 0.8 * gmailClipBytes ? 'doubt' : 'good',
          `${size}; Gmail clips a mail at 102 kB.`,
        )
  const huge = sizeBytes > 10_000_000
  return huge
    ? [
        clip,
        finding(
          'Size',
          'doubt',
          `The whole mail has ${fileSize(sizeBytes)}; many servers take 10 MB at most.`,
        ),
      ]
    : [clip]
}

/** What filters have always looked for in a subject. */
export function subjectFindings(subject: string): MailFinding[] {
  const found: MailFinding[] = []
  const letters = subject.replace(/\P{L}/gu, '')
  if (subject.trim() === '') {
    return [
      finding(
        'Subject',
        'bad',
        'There is no subject; filters count that, and readers pass over it.',
      ),
    ]
  }
  if (/\{\{|\{%|%%|\*\||\[\[/.test(subject)) {
    found.push(finding('Subject', 'bad', 'A variable in the subject was not filled in.'))
  }
  if (
    // Shorter words are names and abbreviations.
    letters.length >= 8 &&
    letters === letters.toUpperCase() &&
    letters !== letters.toLowerCase()
  ) {
    found.push(finding('Subject', 'doubt', 'The subject is in capitals throughout, as in spam.'))
  }
  if (/[!?]{3}|\${3}/.test(subject)) {
    found.push(
      finding(
        'Subject',
        'doubt',
        'The subject has several exclamation or question marks in a row, as in spam.',
      ),
    )
  }
  if (subject.length > 150) {
    found.push(
      finding(
        'Subject',
        'doubt',
        `The subject has ${subject.length} characters; an inbox shows about 60.`,
      ),
    )
  }
  return found.length > 0
    ? found
    : [finding('Subject', 'good', 'There is a subject, of a sensible form.')]
}

/** HTML and text, pictures, what clients remove, attachments. */
function partFindings({ content }: SandboxMessage): MailFinding[] {
  const { html, text, attachments } = content
  const found: MailFinding[] = []
  if (html === undefined && text === undefined) {
    return [finding('Parts', 'bad', 'There is neither HTML nor text to read.')]
  }
  if (html !== undefined) {
    found.push(
      text === undefined || text.trim() === ''
        ? finding(
            'Parts',
            'bad',
            'There is HTML and no text part; filters count that, and some readers see nothing.',
          )
        : finding('Parts', 'good', 'There is HTML, and text for those who read that.'),
    )
    // No '<' within a tag: otherwise each '<' of 300,000 in a row would search for its end.
    const words = html.replace(/<[^<>]{0,5000}>/g, ' ').trim().length
    // A picture one pixel wide is a tracking pixel, not content.
    if (/<img\b(?![^>]{0,300}\bwidth="1")/i.test(html) && words < 100) {
      found.push(
        finding(
          'Parts',
          'doubt',
          'It is nearly all pictures: while they are blocked, a reader sees nothing.',
        ),
      )
    }
    if (/<(script|form|iframe|object|embed)\b/i.test(html)) {
      found.push(
        finding(
          'Parts',
          'bad',
          'The HTML has a script, form or frame; clients remove them, and filters take them for an attack.',
        ),
      )
    }
    if (hasRemotePictures(html)) {
      found.push(
        finding(
          'Pictures',
          'none',
          'Pictures are fetched from elsewhere, which many clients do only when asked.',
        ),
      )
    }
  }
  for (const { filename } of attachments) {
    if (/\.(exe|scr|bat|cmd|com|js|vbs|jar|msi|iso|lnk|ps1|hta|html?|svg|zip)$/i.test(filename)) {
      found.push(
        finding(
          'Attachments',
          'doubt',
          `Many servers refuse or hold back files such as ${filename}.`,
        ),
      )
      break
    }
  }
  return found
}

/** RFC 5322 §3.6: which headers are required, and which may occur only once. */
function headerFindings({ content, from }: SandboxMessage): MailFinding[] {
  const has = (name: string) => values(content, name).length
  const found: MailFinding[] = []
  if (from === '')
    found.push(
      finding(
        'Headers',
        'bad',
        'There is no From header (RFC 5322 §3.6); servers refuse such mail.',
      ),
    )
  for (const name of ['Date', 'Message-ID']) {
    if (has(name) === 0)
      found.push(finding('Headers', 'bad', `There is no ${name} header (RFC 5322 §3.6).`))
  }
  for (const name of ['From', 'Subject', 'Date', 'Message-ID', 'To', 'Reply-To']) {
    if (has(name) > 1) {
      found.push(
        finding(
          'Headers',
          'bad',
          `There are ${has(name)} headers ${name}, and one is allowed (RFC 5322 §3.6).`,
        ),
      )
    }
  }
  return found
}

/** One-click unsubscribing (RFC 8058), which Gmail and Yahoo! demand of bulk senders. */
function unsubscribeFindings({ content }: SandboxMessage): MailFinding[] {
  const [header] = values(content, 'List-Unsubscribe')
  const [post] = values(content, 'List-Unsubscribe-Post')
  const check = 'Unsubscribing'
  if (header === undefined) {
    // English, German, French, Spanish and Portuguese, roughly: this only chooses the words of a
    // hint.
    const link = /unsubscri|abmeld|opt.?out|d[ée]sabonn|cancelar/i.test(
      `${content.html} ${content.text}`,
    )
    const words = link
      ? 'There is a link in the mail, but no'
      : 'There is no link to unsubscribe and no'
    return [
      finding(
        check,
        'none',
        `${words} List-Unsubscribe header. Mail that somebody asked for just now needs neither; Gmail and Yahoo! want both of marketing mail.`,
      ),
    ]
  }
  const targets = [...header.matchAll(/<([^<>]{1,2000})>/g)].map(([, url = '']) => url.trim())
  const found: MailFinding[] = []
  if (targets.length === 0) {
    return [
      finding(check, 'bad', 'List-Unsubscribe has no address in angle brackets (RFC 2369 §2).'),
    ]
  }
  const https = targets.some((url) => /^https:/i.test(url))
  if (!https)
    found.push(
      finding(
        check,
        'doubt',
        'List-Unsubscribe has no https address, which one click needs (RFC 8058 §3.1).',
      ),
    )
  if (post?.replace(/\s/g, '') !== 'List-Unsubscribe=One-Click') {
    found.push(
      finding(
        check,
        'doubt',
        'There is no “List-Unsubscribe-Post: List-Unsubscribe=One-Click” (RFC 8058 §3.1), which Gmail and Yahoo! want of bulk mail.',
      ),
    )
  }
  if (!isSigned(content, ['list-unsubscribe', 'list-unsubscribe-post'])) {
    found.push(
      finding(
        check,
        'doubt',
        'No DKIM signature covers the headers of List-Unsubscribe (RFC 8058 §4).',
      ),
    )
  }
  return found.length > 0
    ? found
    : [finding(check, 'good', 'One click unsubscribes, and the signature covers it (RFC 8058).')]
}

/** The values of all header fields with one name; upper and lower case are the same. */
const values = (content: SandboxMessage['content'], name: string) =>
  content.headers
    .filter((one) => one.name.toLowerCase() === name.toLowerCase())
    .map(({ value }) => value)

/** RFC 6376 §3.5: `h=` lists the signed headers. */
function isSigned(content: SandboxMessage['content'], names: string[]): boolean {
  return values(content, 'DKIM-Signature').some((signature) => {
    const [, list = ''] = /(?:^|;)\s*h\s*=([^;]*)/i.exec(signature) ?? []
    const signed = list.split(':').map((one) => one.trim().toLowerCase())
    return names.every((name) => signed.includes(name))
  })
}
