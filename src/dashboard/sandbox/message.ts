import { hasRemotePictures } from '../../mime/index.js'
import type { SandboxMessage } from '../../sandbox/index.js'
import { fileSize, listed, type Moment, moment } from '../format.js'
import type { Html } from '../shell/html.js'
import { render } from '../shell/render.js'
import type { Followed } from './follow-links.js'
import { checkHtml } from './html-check.js'
import { checkLinks } from './link-check.js'
import { checkMail } from './mail-check.js'
import { type Badge, verdictBadges, verdictWords } from './verdict-words.js'

/** What all views of a message show around them. */
export interface MessageView {
  url: string
  /** The list that has the message. */
  back: string
  /** Links to its other forms: its bytes, and in the sandbox's inbox JSON for programs. */
  actions: { label: string; href: string }[]
  subject: string
  from: string
  to: string
  received: Moment
  badges: Badge[]
  /** True until there are verdicts: the page then asks again. */
  checking: boolean
  notice: string | undefined
  tabs: { label: string; href: string; here: boolean }[]
  content: Html
}

/** The views of a message. */
export type ViewName = (typeof viewNames)[number]
const viewNames = [
  ...(['html', 'text', 'headers', 'source', 'attachments'] as const),
  ...(['checks', 'clients', 'links'] as const),
]

/** How somebody looks at a message. */
export interface MessageLook {
  /** `?view=`; an unknown one means the first that the message has. */
  view: string | null
  /** Pictures from elsewhere are shown in the frame. */
  remotePictures: boolean
  /** What the links answered, if somebody asked for that. */
  followed?: Followed[]
  /** The address of the inbox. Default: the sandbox's. */
  inbox?: string
}

// A longer page would be slow in the browser; the source has everything.
const maxChars = 30_000
const maxRecipients = 100

/** The address from which an attachment is saved. */
export const attachmentPath = (messageUrl: string, index: number) =>
  `${messageUrl}/attachments/${index}`

const sandboxInbox = '/sandbox'

/**
 * One view of a message. The first line of tabs shows what the message is, the last three tabs what is wrong with it.
 */
export function messageView(
  message: SandboxMessage,
  raw: Buffer,
  nowMs: number,
  looked: MessageLook,
): MessageView {
  const { content } = message
  const first =
    content.html === undefined ? (content.text === undefined ? 'source' : 'text') : 'html'
  const here = viewNames.find((name) => name === looked.view) ?? first
  const back = looked.inbox ?? sandboxInbox
  const url = `${back}/${message.id}`
  const json = { label: 'JSON', href: `${url}.json` }
  return {
    url,
    back,
    actions: [
      { label: 'Download', href: `${url}/download` },
      ...(back === sandboxInbox ? [json] : []),
    ],
    subject: message.subject || 'No subject',
    from: message.from || message.mailFrom || 'No sender',
    to: listed(message.recipients, maxRecipients),
    received: moment(message.receivedAt, nowMs),
    badges: verdictBadges(message),
    checking: message.verdicts === undefined,
    notice:
      content.incomplete === 'broken'
        ? 'The structure of this mail cannot be read. Its source is all there is.'
        : content.incomplete === 'cut'
          ? 'This mail is long; only its beginning was read. The download is complete.'
          : undefined,
    tabs: tabs(message).map(({ name, label }) => ({
      label,
      here: name === here,
      href: name === first ? url : `${url}?view=${name}`,
    })),
    content: views[here](message, { ...looked, raw, url }),
  }
}

/** The views that this message has, with how many attachments and faults there are. */
function tabs(message: SandboxMessage): { name: ViewName; label: string }[] {
  const { html, text, attachments } = message.content
  const bad = checkMail(message).filter(({ tone }) => tone === 'bad').length
  const numbered = (label: string, count: number) => (count > 0 ? `${label} (${count})` : label)
  return [
    ...(html === undefined ? [] : [{ name: 'html' as const, label: 'HTML' }]),
    ...(text === undefined ? [] : [{ name: 'text' as const, label: 'Text' }]),
    { name: 'headers', label: 'Headers' },
    { name: 'source', label: 'Source' },
    { name: 'attachments', label: numbered('Attachments', attachments.length) },
    { name: 'checks', label: numbered('Checks', bad) },
    { name: 'clients', label: 'Mail clients' },
    { name: 'links', label: 'Links' },
  ]
}

type ShowView = (message: SandboxMessage, looked: Looked) => Html
type Looked = MessageLook & { raw: Buffer; url: string }

// How much of an address is shown: a page with a hundred addresses of two thousand characters would
// be slow.
const maxUrlChars = 300

/** The three views that judge a mail. */
const checkViews = {
  checks: (message: SandboxMessage, { url, inbox }: Looked) =>
    render('sandbox/view-checks', {
      json: inbox === undefined ? `${url}/checks.json` : undefined,
      checking: message.verdicts === undefined,
      verdicts: verdictWords(message),
      findings: checkMail(message),
    }),

  clients: ({ content }: SandboxMessage, { url }: Looked) => {
    const { source, clients, features } = checkHtml(content.html ?? '')
    const whole = clients.filter(({ missing, partly }) => missing + partly === 0).length
    return render('sandbox/view-clients', {
      url,
      source,
      features,
      hasHtml: content.html !== undefined,
      clients: [...clients].sort((a, b) => b.missing - a.missing || b.partly - a.partly),
      summary: `${whole} of ${clients.length} mail clients show all that this mail uses.`,
    })
  },

  links: ({ content }: SandboxMessage, { followed, url: page }: Looked) => {
    const { links, total } = checkLinks(content.html ?? '', content.text ?? '')
    const answers = new Map(followed?.map((one) => [one.url, one]))
    return render('sandbox/view-links', {
      url: page,
      asked: followed !== undefined,
      more: total - links.length,
      canAsk: links.some(({ url }) => /^https?:/i.test(url)),
      links: links.map((link) => ({
        ...link,
        url: link.url.slice(0, maxUrlChars),
        // RFC 3986 §3.1: an address whose scheme runs something is shown, but is no link.
        href: /^https?:\/\//i.test(link.url) && URL.canParse(link.url) ? link.url : undefined,
        answer: answers.get(link.url),
      })),
    })
  },
}

const views: Record<ViewName, ShowView> = {
  html: ({ content }, { remotePictures, url }) =>
    render('sandbox/view-html', {
      url,
      remotePictures,
      hasRemotePictures: hasRemotePictures(content.html ?? ''),
    }),
  text: ({ content }, { url }) =>
    render('sandbox/view-text', { url, ...shortened(content.text ?? '') }),
  source: (_message, { raw, url }) => {
    // Only as much as is shown is decoded, at two bytes for each character.
    const source = shortened(raw.subarray(0, maxChars * 2).toString('utf8'), raw.length)
    return render('sandbox/view-source', { url, ...source })
  },
  headers: (message, { url }) => {
    let left = maxChars
    const headers = message.content.headers.filter(({ name, value }) => {
      left -= name.length + value.length
      return left > 0
    })
    const cut = headers.length < message.content.headers.length
    return render('sandbox/view-headers', { url, headers, cut, facts: facts(message) })
  },
  attachments: ({ content }, { url }) =>
    render('sandbox/view-attachments', {
      url,
      attachments: content.attachments.map(({ filename, mimeType, sizeBytes }, index) => ({
        filename,
        url: attachmentPath(url, index),
        detail: `${mimeType}, ${fileSize(sizeBytes)}`,
      })),
    }),
  ...checkViews,
}

/** The beginning of a text, and whether there is more of it. */
function shortened(text: string, whole = text.length): { text: string; cut: boolean } {
  return { text: text.slice(0, maxChars), cut: whole > maxChars }
}

/** The envelope and the connection. */
function facts(message: SandboxMessage): { label: string; value: string }[] {
  return [
    { label: 'Envelope sender', value: message.mailFrom || '<> (none)' },
    { label: 'Client', value: `${message.helo || 'unnamed'} at ${message.remoteAddress}` },
    { label: 'Transport', value: message.tls ? 'SMTP over TLS' : 'SMTP, not encrypted' },
    { label: 'Size', value: fileSize(message.sizeBytes) },
  ]
}
