import { readContent } from '../../contents/index.js'
import { auditOf } from '../../contract/index.js'
import * as operations from '../../receiving/contract.js'
import {
  deleteReceived,
  findReceived,
  findReceivedFile,
  isFailed,
  listRules,
  receivedMailAnswer,
  receivedSource,
} from '../../receiving/index.js'
import type { Store } from '../../store/index.js'
import { fileSize } from '../format.js'
import { withPictures } from '../sandbox/frame.js'
import { file, frame, page, redirect } from '../shell/answer.js'
import { type HtmlContent, html } from '../shell/html.js'
import type { AccountPages } from '../shell/page.js'
import { type Tone, time } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import { clipped, type ReceivedPageDeps, receivedListPage, stateOf } from './list.js'

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
  /** Why it has not reached whom it was sent on to. */
  notSentOn: string | undefined
  facts: { label: string; value: HtmlContent }[]
  answers: string | undefined
  text: string | null
  quoted: string | null
  frame: string | undefined
  files: { name: string; detail: string; href: string }[]
  headers: { name: string; value: string }[]
}

// Pictures that a mail carries and its HTML shows: what is larger is not.
const mostPictureBytes = 6_000_000

/** `/received`: mail that came in, and what is in each. */
export function receivedPages(pages: AccountPages, deps: ReceivedPageDeps): void {
  const { store } = deps
  const { read } = store

  receivedListPage(pages, deps)

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

async function oneView(read: Store['read'], visit: Visit): Promise<OneView> {
  const { account, base, params } = visit
  const mail = await receivedMailAnswer(read, account.id, params.id ?? '')
  const url = `${base}/received/${mail.id}`
  const { checks, forward, spam } = mail
  const rule = (await listRules(read, account.id)).find(({ id }) => id === mail.ruleId)
  const date = mail.headers.find(({ name }) => name.toLowerCase() === 'date')?.value
  const facts: (false | [label: string, value: HtmlContent])[] = [
    ['To', mail.recipient],
    ['From', mail.from],
    ['Sender of the envelope', mail.envelopeFrom || 'nobody, as of bounces'],
    ['Came in', time(Date.parse(mail.receivedAt), visit.now)],
    date !== undefined && ['Its own date', clipped(date, 100)],
    [
      'Rule',
      rule === undefined
        ? 'deleted since'
        : html`<a href="${base}/receiving/${rule.id}">${rule.place}: ${rule.pattern}</a>`,
    ],
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
      html`to ${forward.to}: ${forward.status === 'gone' ? 'yes; what became of it is known for 7 days' : (forward.status ?? 'not yet')}${forward.detail !== null && html`, <code class="wrap">${forward.detail}</code>`}`,
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
    notSentOn:
      forward !== null && (forward.status === 'refused' || isFailed(forward.status ?? ''))
        ? `It was not sent on to ${forward.to}: ${forward.detail ?? forward.status}`
        : undefined,
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
