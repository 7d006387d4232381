import { ApiError } from '../../errors/index.js'
import {
  deleteOperatorMail,
  findOperatorMail,
  listOperatorMails,
  listParkedReports,
} from '../../inbound/index.js'
import { pageOf } from '../../store/index.js'
import { fileSize } from '../format.js'
import { file, page, redirect } from '../shell/answer.js'
import { listOf } from '../shell/listing.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import type { OperatorPageDeps } from './deps.js'

const perPage = 50

/** `/operator/inbound`: what others wrote to postmaster@ and abuse@; like `posthorn postmaster`. */
export function inboundPages(pages: OperatorPages, deps: OperatorPageDeps): void {
  const { store } = deps
  pages.get('/inbound', 'operator.read', (visit) => listPage(deps, visit))
  pages.get('/inbound/:id', 'operator.read', (visit) => mailPage(deps, visit))
  pages.get('/inbound/:id/source', 'operator.read', async ({ params }) => {
    const { id, raw } = await mailOf(deps, params.id)
    // The file is saved and never shown: its HTML is by its sender, who may be anybody.
    return file(raw, 'message/rfc822', { saveAs: `mail-${id}.eml` })
  })
  pages.post(
    '/inbound/:id/delete',
    { action: 'operator.write', sudo: true },
    async ({ params }) => {
      const { id, subject, headerFrom } = await mailOf(deps, params.id)
      await store.write((tx) => deleteOperatorMail(tx, id))
      return redirect('/operator/inbound', {
        flash: 'The mail is deleted',
        audit: { action: 'postmaster.delete', target: String(id), detail: { subject, headerFrom } },
      })
    },
  )
}

/** The newest first. Parked reports are only counted here: they have a page of their own. */
async function listPage({ store: { read } }: OperatorPageDeps, { query, now }: OperatorVisit) {
  const listing = { path: '/operator/inbound', query }
  const { rows: shown, ...beside } = await listOf(listing, async (after = '') => {
    const before = /^\d{1,16}$/.test(after) ? Number(after) : undefined
    const found = await listOperatorMails(read, perPage + 1, before)
    return pageOf(found, perPage, ({ id }) => String(id))
  })
  const view = {
    now,
    parked: (await listParkedReports(read)).length,
    rows: shown.map(({ id, receivedAt, recipient, headerFrom, mailFrom, subject }) => ({
      id: String(id),
      receivedAt,
      recipient,
      subject: subject || '(no subject)',
      from: headerFrom || mailFrom || '<>',
    })),
    ...beside,
  }
  return page('operator/inbound', view, { title: 'Inbound mail', wide: true })
}

/** One mail, as text only: strangers wrote it, so its HTML is not shown. */
async function mailPage(deps: OperatorPageDeps, { params, now, may }: OperatorVisit) {
  const mail = await mailOf(deps, params.id)
  const { content } = mail
  const view = {
    now,
    id: String(mail.id),
    receivedAt: mail.receivedAt,
    recipient: mail.recipient,
    from: mail.headerFrom,
    mailFrom: mail.mailFrom,
    remoteAddress: mail.remoteAddress,
    subject: mail.subject || '(no subject)',
    size: fileSize(mail.sizeBytes),
    text: content.text?.trimEnd() ?? '',
    attachments: content.attachments.map(({ filename, mimeType, sizeBytes }) => ({
      filename,
      mimeType,
      size: fileSize(sizeBytes),
    })),
    mayChange: may('operator.write'),
  }
  return page('operator/operator-mail', view, { title: view.subject })
}

/** The mail of a path; throws a 404. */
async function mailOf({ store }: OperatorPageDeps, given = '') {
  const id = /^\d{1,16}$/.test(given) ? Number(given) : -1
  const mail = await findOperatorMail(store.read, id)
  if (mail === undefined) throw new ApiError('not_found', 'There is no such mail')
  return mail
}
