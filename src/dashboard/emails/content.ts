import { utcTime } from '../../clock/index.js'
import { conversationOf, findDeliveries } from '../../deliveries/index.js'
import { type EmailRecord, readEmail } from '../../emails/index.js'
import { ApiError, messageOf } from '../../errors/index.js'
import { hasRemotePictures } from '../../mime/index.js'
import type { SentCopy } from '../../outbound/index.js'
import { fileSize } from '../format.js'
import { file, frame, page } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import { command } from '../shell/command-line.js'
import type { AccountPages } from '../shell/page.js'
import type { SameBy } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import type { EmailPageDeps } from './deps.js'
import { headOf, type MailHead, mailIdOf } from './mail.js'

/** Text, attachments, and the address of the frame that has the HTML. */
export interface ContentView extends MailHead {
  /** The copies that there are, and which of them is shown. */
  copies: { recipient: string; href: string; here: boolean }[]
  /** Why there is nothing to show. */
  missing: string | undefined
  /** Set where the content is merged anew: the contact may have changed since. */
  merged: boolean
  frame: string | undefined
  /**
   * The address that shows pictures from elsewhere; undefined where there are none, or where they are shown already.
   */
  withPictures: string | undefined
  text: string | undefined
  /** The whole text, where only its beginning is shown. */
  wholeText: string | undefined
  attachments: { filename: string; detail: string }[]
}

/** The header section, as the recipient gets it. */
export interface HeadersView extends MailHead {
  missing: string | undefined
  header: string
}

/** What `GET /v1/emails/:id` answers. */
export interface JsonView extends MailHead {
  json: string
  file: string
  same: SameBy
}

/** Adds `pictures=all` to a query that may be empty. */
const and = (query: string, isWith: boolean) =>
  isWith ? `${query}${query === '' ? '?' : '&'}pictures=all` : query

// The page stays small; the whole text can be opened as a file.
const shownChars = 30_000
const maxCopies = 50

/** What a mail says, as one of its recipients gets it. */
export function contentPages(pages: AccountPages, deps: EmailPageDeps): void {
  const { read } = deps.store

  pages.get('/emails/:id/content', 'emails.read', async (visit) => {
    const email = await readEmail(read, visit.account.id, mailIdOf(visit))
    const { copy, missing, copies, query } = await chosenCopy(deps, visit, email)
    const head = headOf(email, visit, 'content')
    const text = copy?.text
    const isWith = visit.query.get('pictures') === 'all'
    const view: ContentView = {
      ...head,
      copies,
      missing,
      // A campaign's body is kept once and merged anew for this page.
      merged: email.broadcastId !== null,
      frame: copy?.html ? `${head.url}/html${and(query, isWith)}` : undefined,
      withPictures:
        !isWith && copy?.html && hasRemotePictures(copy.html)
          ? `${head.url}/content${and(query, true)}`
          : undefined,
      text: text?.slice(0, shownChars),
      wholeText: text && text.length > shownChars ? `${head.url}/text${query}` : undefined,
      attachments: email.attachments.map(({ filename, contentType, size }) => ({
        filename,
        detail: `${contentType}, ${fileSize(size)}`,
      })),
    }
    return page('emails/content', view, { title: `Content · ${head.subject}` })
  })

  pages.get('/emails/:id/html', 'emails.read', async (visit) =>
    frame((await wholeCopy(deps, visit)).html ?? '', {
      remotePictures: visit.query.get('pictures') === 'all',
    }),
  )

  pages.get('/emails/:id/text', 'emails.read', async (visit) =>
    file((await wholeCopy(deps, visit)).text ?? '', 'text/plain; charset=utf-8'),
  )

  pages.get('/emails/:id/headers', 'emails.read', async (visit) => {
    const email = await readEmail(read, visit.account.id, mailIdOf(visit))
    const { copy, missing } = await chosenCopy(deps, visit, email)
    const head = headOf(email, visit, 'headers')
    const header = copy?.header.replaceAll('\r\n', '\n').slice(0, shownChars) ?? ''
    const view: HeadersView = { ...head, missing, header }
    return page('emails/headers', view, { title: `Headers · ${head.subject}` })
  })

  pages.get('/emails/:id/api', 'emails.read', async (visit) => {
    const email = await readEmail(read, visit.account.id, mailIdOf(visit))
    const head = headOf(email, visit, 'json')
    const view: JsonView = {
      ...head,
      json: JSON.stringify({ email }, undefined, 2).slice(0, shownChars),
      file: `${head.url}/json`,
      same: {
        api: [call(api.emails.getEmail, { of: { id: email.id } })],
        cli: [command('email show', { of: [email.id], json: true })],
      },
    }
    return page('emails/api', view, { title: `JSON · ${head.subject}` })
  })

  pages.get('/emails/:id/json', 'emails.read', async (visit) => {
    const email = await readEmail(read, visit.account.id, mailIdOf(visit))
    const text = `${JSON.stringify({ email }, undefined, 2)}\n`
    return file(text, 'application/json; charset=utf-8')
  })

  pages.get('/emails/:id/deliveries/:delivery', 'emails.read', async (visit) => {
    const email = await readEmail(read, visit.account.id, mailIdOf(visit))
    // The deliveries are found by the mail, which was found by the account: a delivery's id alone could belong to
    // anybody.
    const { waiting, ended } = await findDeliveries(read, { emailId: email.id })
    const found = [...waiting, ...ended].find(({ id }) => String(id) === visit.params.delivery)
    const said = found === undefined ? [] : await conversationOf(read, found)
    if (said.length === 0)
      throw new ApiError('not_found', 'No conversation is kept of that delivery')
    const text = said.map(({ at, transcript }) =>
      said.length === 1 ? transcript : `${at === null ? '' : utcTime(at)}\n\n${transcript}`,
    )
    return file(`${text.join('\n\n')}\n`, 'text/plain; charset=utf-8')
  })
}

/** The copy, for a file or a frame with nothing else; 404 when it cannot be made any more. */
async function wholeCopy(deps: EmailPageDeps, visit: Visit): Promise<SentCopy> {
  const email = await readEmail(deps.store.read, visit.account.id, mailIdOf(visit))
  const { copy, missing } = await chosenCopy(deps, visit, email)
  if (copy === undefined) throw new ApiError('not_found', missing ?? 'This mail has no content')
  return copy
}

/** The copy that the address asks for, or the first recipient's. */
async function chosenCopy(
  { store, sentCopy, log }: EmailPageDeps,
  { query, base }: Visit,
  email: EmailRecord,
): Promise<{
  copy: SentCopy | undefined
  missing: string | undefined
  copies: ContentView['copies']
  query: string
}> {
  const { waiting, ended } = await findDeliveries(store.read, { emailId: email.id })
  // In the order in which the deliveries were written, which is the order of the recipients.
  const all = [...waiting, ...ended].sort((a, b) => a.id - b.id)
  const wanted = all.find(({ id }) => String(id) === query.get('copy'))
  const chosen = wanted ?? all[0]
  const copies = all.slice(0, maxCopies).map(({ id, recipient }) => ({
    recipient,
    here: id === chosen?.id,
    href: `${base}/emails/${email.id}/content?copy=${id}`,
  }))
  const none = { copy: undefined, copies, query: '' }
  if (email.contentDeleted) {
    const missing =
      'Its content was old enough to be deleted; what happened to the mail is still known.'
    return { ...none, missing }
  }
  try {
    const { id = 0, recipient = '' } = chosen ?? {}
    const copy = await sentCopy({ id, emailId: email.id, recipient })
    return { copy, missing: undefined, copies, query: wanted ? `?copy=${id}` : '' }
  } catch (error) {
    // The sender's own content may not render any more; the rest of the page is shown all the same.
    log.warn(
      { emailId: email.id, cause: messageOf(error) },
      'A mail cannot be composed again for its page',
    )
    return { ...none, missing: `The mail cannot be composed any more: ${messageOf(error)}` }
  }
}
