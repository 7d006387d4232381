import { type Notice, titleOf } from './read.js'

/** A mail to the operator, as text and as HTML. */
export interface OperatorMessage {
  subject: string
  text: string
  html: string
}

/** Some notices under a heading. */
export interface NoticePart {
  /** Empty: none. */
  heading: string
  notices: readonly Notice[]
  /** `short`: only the first line. */
  shape: 'full' | 'short' | 'settled'
}

/** Another folder's text for the end of the mail, such as the weekly report. */
export interface Annex {
  text: string
  /** Markup, with everything in it escaped. */
  html: string
}

/** What a mail to the operator is made of. */
export interface Composition {
  /** The host that sends the mail. */
  host: string
  /** The subject; by default it tells the worst notice. */
  about?: string
  parts: readonly NoticePart[]
  annex?: Annex | undefined
  remarks?: readonly string[]
  zone: string
}

// RFC 5322 §2.1.1 recommends lines of 78 characters; a phone shows about half of that.
const maxSubject = 120

/** Writes a mail of notices: each with what is wrong and how to fix it. */
export function composeOperatorMail(given: Composition): OperatorMessage {
  const { host, annex, zone, remarks = [] } = given
  const parts = given.parts.filter(({ notices }) => notices.length > 0)
  const subject = cut(`[${host}] ${given.about ?? aboutOf(parts)}`, maxSubject)
  const foot = [
    ...remarks,
    `Posthorn on ${host}; times are of ${zone}. All of it: posthorn notice list. Less of it: posthorn notice silence --help.`,
  ]
  const text = [
    ...parts.flatMap((part) => [...textOf(part, zone), '']),
    ...(annex === undefined ? [] : [annex.text, '']),
    '-- ',
    ...foot,
    '',
  ].join('\n')
  const html = page(subject, [
    ...parts.map((part) => htmlOf(part, zone)),
    ...(annex === undefined ? [] : [annex.html]),
    `<p style="${small}">${foot.map(escaped).join('<br>')}</p>`,
  ])
  return { subject, text, html }
}

/** The subject by the worst notice, and how many more there are. */
function aboutOf(parts: readonly NoticePart[]): string {
  const open = parts.filter(({ shape }) => shape !== 'settled').flatMap(({ notices }) => notices)
  const done = parts.filter(({ shape }) => shape === 'settled').flatMap(({ notices }) => notices)
  const [worst] = open.length > 0 ? open : done
  if (worst === undefined) return 'nothing to report'
  const more = open.length > 0 ? open.length - 1 : done.length - 1
  const mark = open.length === 0 ? 'All clear: ' : worst.severity === 'burning' ? 'BURNS: ' : ''
  const rest = more === 0 ? '' : ` (+${more} more)`
  return `${mark}${cut(titleOf(worst), 90)}${rest}`
}

/** A part as plain text. */
function textOf({ heading, notices, shape }: NoticePart, zone: string): string[] {
  const head = heading === '' ? [] : [heading, '='.repeat(heading.length), '']
  const each = notices.flatMap((one) => {
    if (shape === 'short') return [`* ${titleOf(one)} (${sinceOf(one, zone)})`]
    if (shape === 'settled') return [`* ${titleOf(one)} (${lastedOf(one, zone)})`]
    const [title, ...details] = one.text.split('\n')
    const fix = one.fix.split('\n')
    return [
      `* ${title}`,
      ...details.map((line) => (line === '' ? '' : `  ${line}`)),
      `  ${sinceOf(one, zone)}`,
      ...(one.fix === ''
        ? []
        : ['', ...fix.map((line, at) => `  ${at === 0 ? 'Fix:' : '    '} ${line}`)]),
      '',
    ]
  })
  if (shape === 'full') each.pop()
  return [...head, ...each]
}

/** A part as HTML, everything in it escaped. */
function htmlOf({ heading, notices, shape }: NoticePart, zone: string): string {
  const head = heading === '' ? '' : `<h2 style="${h2}">${escaped(heading)}</h2>`
  if (shape !== 'full') {
    const items = notices.map((one) => {
      const when = shape === 'short' ? sinceOf(one, zone) : lastedOf(one, zone)
      return `<li style="margin:4px 0">${escaped(titleOf(one))} <span style="${small}">${escaped(when)}</span></li>`
    })
    return `${head}<ul style="padding-left:20px;margin:8px 0">${items.join('')}</ul>`
  }
  const cards = notices.map((one) => {
    const [title = '', ...details] = one.text.split('\n')
    const colour = one.severity === 'burning' ? '#c0392b' : '#b7791f'
    const more = details.join('\n').trim()
    return [
      `<div style="border-left:4px solid ${colour};padding:2px 0 2px 12px;margin:14px 0">`,
      `<div style="font-weight:bold">${escaped(title)}</div>`,
      `<div style="${small}">${escaped(sinceOf(one, zone))}</div>`,
      more === '' ? '' : `<pre style="${pre}">${escaped(more)}</pre>`,
      one.fix === ''
        ? ''
        : `<div style="${small}">Fix</div><pre style="${pre}${code}">${escaped(one.fix)}</pre>`,
      '</div>',
    ].join('')
  })
  return head + cards.join('')
}

// Styles are on each element, as many mail programs drop a style sheet.
const font = 'font-family:system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif;'
const small = 'color:#6b7280;font-size:13px;'
const h2 = 'font-size:17px;margin:22px 0 4px;'
// Records and commands are long words: on a phone they are broken, not cut off.
const pre =
  'margin:6px 0;white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.45 ui-monospace,Menlo,Consolas,monospace;'
const code = 'background:#f3f4f6;color:#111827;padding:8px 10px;border-radius:4px;'

const page = (title: string, parts: readonly string[]): string =>
  [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<title>${escaped(title)}</title></head>`,
    `<body style="margin:0;padding:16px;${font}font-size:15px;line-height:1.45;color:#111827;background:#ffffff">`,
    '<div style="max-width:600px;margin:0 auto">',
    ...parts,
    '</div></body></html>',
  ].join('\n')

/** A text as HTML; all characters that could end a text or an attribute. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)

/** Since when the notice is open, and how often it was raised. */
function sinceOf({ firstAt, count }: Notice, zone: string): string {
  const times = count > 1 ? `, ${count} times` : ''
  return `since ${shownAt(firstAt, zone)}${times}`
}

/** From when to when the notice was open. */
function lastedOf({ firstAt, settledAt }: Notice, zone: string): string {
  return `${shownAt(firstAt, zone)} until ${shownAt(settledAt ?? firstAt, zone)}`
}

/** `Sat 21 Nov 13:05`, in the operator's zone. */
export const shownAt = (at: number, zone: string): string =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
    .format(at)
    .replaceAll(',', '')

/** A text cut to at most `most` characters. */
const cut = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text
