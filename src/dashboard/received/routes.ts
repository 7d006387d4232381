import { readContent } from '../../contents/index.js'
import { auditOf } from '../../contract/index.js'
import * as operations from '../../receiving/contract.js'
import {
  deleteReceived,
  findReceived,
  findReceivedFile,
  type ReceivedMailSummary,
  receivedAnswer,
  receivedMailAnswer,
  receivedSource,
} from '../../receiving/index.js'
import type { Store } from '../../store/index.js'
import { fileSize, type Moment, moment } from '../format.js'
import { withPictures } from '../sandbox/frame.js'
import { file, frame, page, redirect } from '../shell/answer.js'
import type { HtmlContent } from '../shell/html.js'
import { type BesidePages, listOf } from '../shell/listing.js'
import type { AccountPages } from '../shell/page.js'
import { type Tone, time } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'

interface MailLine {
  href: string
  subject: string
  from: string
  to: string
  when: Moment
  state: { text: string; tone: Tone }
}

interface ReceivedView extends BesidePages {
  base: string
  accountId: string
  recipient: string
  mails: MailLine[]
}

interface OneView {
  base: string
  url: string
  accountId: string
  id: string
  subject: string
  /** Where it is too long for a heading. */
  whole: string | undefined
  state: { text: string; tone: Tone }
  mayDelete: boolean
  facts: { label: string; value: HtmlContent }[]
  answers: string | undefined
  text: string | null
  quoted: string | null
  frame: string | undefined
  files: { name: string; detail: string; href: string }[]
  headers: { name: string; value: string }[]
}

const pageSize = 50
// Pictures that a mail carries and its HTML shows: what is larger is not.
const mostPictureBytes = 6_000_000

/** `/received`: mail that came in, and what is in each. */
export function receivedPages(pages: AccountPages, { store }: { store: Store }): void {
  const { read } = store

  pages.get('/received', 'emails.read', async ({ account, base, query, now }) => {
    const recipient = query.get('recipient')?.trim() || undefined
    const listing = { path: `${base}/received`, query, filters: { recipient } }
    const { rows, ...beside } = await listOf(listing, async (cursor) => {
      const given = { recipient, cursor, limit: pageSize }
      const { received, nextCursor } = await receivedAnswer(read, account.id, given)
      return { page: received, nextCursor }
    })
    const view: ReceivedView = {
      base,
      accountId: account.id,
      recipient: recipient ?? '',
      mails: rows.map((mail) => lineOf(mail, base, now)),
      ...beside,
    }
    return page('received/list', view, { title: 'Received mail' })
  })

  pages.get('/received/:id', 'emails.read', async (visit) => {
    const view = await oneView(read, visit)
    return page('received/one', view, { title: view.subject || 'A mail without a subject' })
  })

  pages.get('/received/:id/html', 'emails.read', async ({ account, params }) =>
    frame(await framedHtml(read, account.id, params.id ?? '')),
  )

  pages.get('/received/:id/source', 'emails.read', async ({ account, params }) => {
    const id = params.id ?? ''
    const { pieces } = await receivedSource(read, account.id, id)
    return file(pieces, 'message/rfc822', { saveAs: `${id}.eml` })
  })

  pages.get('/received/:id/files/:number', 'emails.read', async ({ account, params }) => {
    const { id = '', number = '' } = params
    const at = /^\d{1,4}$/.test(number) ? Number(number) : 0
    const { filename, content, sizeBytes } = await findReceivedFile(read, account.id, id, at)
    const bytes = readContent(read, { id: content, sizeBytes })
    // Never as the type that its sender has named: it is saved, and runs nowhere of ours.
    return file(bytes, 'application/octet-stream', { saveAs: filename })
  })

  pages.post('/received/:id/delete', { action: 'domains.write' }, async (visit) => {
    const { account, base, params } = visit
    const id = params.id ?? ''
    const detail = await deleteReceived({ store }, account.id, id)
    const audit = auditOf(operations.deleteReceived, { target: id, detail })
    return redirect(`${base}/received`, { flash: 'The mail is deleted', audit })
  })
}

/** Whatever its sender has written takes about two lines of a list; its own page has all of it. */
const clipped = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most).trimEnd()}…` : text

const lineOf = (mail: ReceivedMailSummary, base: string, now: number): MailLine => ({
  href: `${base}/received/${mail.id}`,
  subject: clipped(mail.subject, 150) || '(no subject)',
  from: clipped(mail.from || mail.envelopeFrom, 100),
  to: mail.recipient,
  when: moment(Date.parse(mail.receivedAt), now),
  state: stateOf(mail),
})

function stateOf({ state, checks }: Pick<ReceivedMailSummary, 'state' | 'checks'>): {
  text: string
  tone: Tone
} {
  if (state === 'reading') return { text: 'being read', tone: 'none' }
  if (state === 'unreadable') return { text: 'cannot be read', tone: 'bad' }
  if (checks?.dmarc === 'pass') return { text: 'sender proved', tone: 'good' }
  if (checks?.dmarc === 'fail') return { text: 'sender forged', tone: 'bad' }
  return { text: 'sender not proved', tone: 'doubt' }
}

async function oneView(read: Store['read'], visit: Visit): Promise<OneView> {
  const { account, base, params } = visit
  const mail = await receivedMailAnswer(read, account.id, params.id ?? '')
  const url = `${base}/received/${mail.id}`
  const { checks, forward, spam } = mail
  const facts: (false | [label: string, value: HtmlContent])[] = [
    ['To', mail.recipient],
    ['From', mail.from],
    ['Sender of the envelope', mail.envelopeFrom || 'nobody, as of bounces'],
    ['Came in', time(Date.parse(mail.receivedAt), visit.now)],
    checks !== null && [
      'Checks',
      `SPF ${checks.spf}, DKIM ${checks.dkim}, DMARC ${checks.dmarc}, ARC ${checks.arc}`,
    ],
    mail.automatic !== null && ['Sent by a machine', mail.automatic],
    mail.loop && ['Goes in circles', 'it was sent on from here before'],
    spam !== null && ['Spam filter', `${spam.score} of ${spam.required}: ${spam.action}`],
    mail.fault !== null && ['Cannot be read', mail.fault],
    forward !== null && [
      'Sent on',
      `to ${forward.to}: ${forward.status ?? 'not yet'}${forward.detail ? `, ${forward.detail}` : ''}`,
    ],
    mail.messageId !== '' && ['Message-ID', mail.messageId],
    ['Size', fileSize(mail.size)],
  ]
  return {
    base,
    url,
    accountId: account.id,
    id: mail.id,
    subject: clipped(mail.subject, 200),
    whole: mail.subject.length > 200 ? mail.subject : undefined,
    state: stateOf(mail),
    mayDelete: visit.may('domains.write'),
    facts: facts.flatMap((fact) => (fact === false ? [] : [{ label: fact[0], value: fact[1] }])),
    answers: mail.emailId === null ? undefined : `${base}/emails/${mail.emailId}`,
    text: mail.text,
    quoted: mail.quoted,
    frame: mail.html === null ? undefined : `${url}/html`,
    files: mail.attachments.map(({ filename, contentType, size, number }) => ({
      name: filename,
      detail: `${contentType}, ${fileSize(size)}`,
      href: `${url}/files/${number}`,
    })),
    headers: mail.headers,
  }
}

/** The HTML with the pictures that the mail carries; nothing is loaded from elsewhere. */
async function framedHtml(read: Store['read'], accountId: string, id: string): Promise<string> {
  const { texts, attachments } = await findReceived(read, accountId, id)
  const html = texts?.html ?? ''
  const pictures: Parameters<typeof withPictures>[1] = []
  let room = mostPictureBytes
  for (const { contentId, contentType, content, sizeBytes } of attachments) {
    if (contentId === undefined || !html.includes('cid:') || sizeBytes > room) continue
    room -= sizeBytes
    const pieces: Buffer[] = []
    for await (const piece of readContent(read, { id: content, sizeBytes })) pieces.push(piece)
    pictures.push({ contentId, mimeType: contentType, bytes: Buffer.concat(pieces) })
  }
  return withPictures(html, pictures)
}
