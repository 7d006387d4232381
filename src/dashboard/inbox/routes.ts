import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { readAttachment } from '../../mime/index.js'
import * as operations from '../../sandbox/contract.js'
import { clearMessages, findMessage, rawMessage, type SandboxMessage } from '../../sandbox/index.js'
import type { Store } from '../../store/index.js'
import type { FollowLinks } from '../sandbox/follow-links.js'
import { ownHtml } from '../sandbox/frame.js'
import { messageId } from '../sandbox/inbox.js'
import { checkLinks } from '../sandbox/link-check.js'
import { type MessageLook, messageView } from '../sandbox/message.js'
import { file, frame, page, redirect } from '../shell/answer.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { listPage } from './list.js'

/** What the pages of the test inbox need. */
export interface TestInboxPageDeps {
  store: Store
  followLinks: FollowLinks
}

/** What an account's test keys have sent: the list, each message with its checks, and emptying it. */
export function testInboxPages(pages: AccountPages, deps: TestInboxPageDeps): void {
  const { read, write } = deps.store
  const inboxOf = ({ account }: Visit) => ({ read, accountId: account.id })

  /** A message of the account's own inbox; it may be deleted while somebody looks at it. */
  const wanted = async <T>(visit: Visit, find: (id: number) => Promise<T | undefined>) => {
    const id = messageId(visit.params.id ?? '')
    const found = id === undefined ? undefined : await find(id)
    if (found !== undefined) return found
    throw new ApiError('not_found', 'The test inbox has no message with this id; it may be deleted')
  }
  const messageOf = (visit: Visit) => wanted(visit, (id) => findMessage(inboxOf(visit), id))
  const rawOf = (visit: Visit) => wanted(visit, (id) => rawMessage(inboxOf(visit), id))
  const show = async (visit: Visit, message: SandboxMessage, look: MessageLook) => {
    const inbox = `${visit.base}/inbox`
    const view = messageView(message, await rawOf(visit), visit.now, { ...look, inbox })
    return page('sandbox/message', view, { title: view.subject })
  }

  pages.get('/inbox', 'emails.read', (visit) => listPage(inboxOf(visit), visit))

  pages.get('/inbox/:id', 'emails.read', async (visit) => {
    const remotePictures = visit.query.get('pictures') === 'all'
    return await show(visit, await messageOf(visit), {
      view: visit.query.get('view'),
      remotePictures,
    })
  })

  pages.get('/inbox/:id/html', 'emails.read', async (visit) => {
    const { content } = await messageOf(visit)
    const remotePictures = visit.query.get('pictures') === 'all'
    return frame(await ownHtml(content, await rawOf(visit)), { remotePictures })
  })

  pages.get('/inbox/:id/source', 'emails.read', async (visit) =>
    file(await rawOf(visit), 'text/plain; charset=utf-8'),
  )

  pages.get('/inbox/:id/download', 'emails.read', async (visit) => {
    const saveAs = `message-${visit.params.id}.eml`
    return file(await rawOf(visit), 'message/rfc822', { saveAs })
  })

  pages.get('/inbox/:id/attachments/:index', 'emails.read', async (visit) => {
    const index = messageId(visit.params.index ?? '')
    const found = index === undefined ? undefined : await readAttachment(await rawOf(visit), index)
    if (found === undefined) {
      throw new ApiError('not_found', 'The message has no attachment with this number')
    }
    // Never sent with the type that the mail gives: somebody else's script would then come from our own origin.
    return file(found.bytes, 'application/octet-stream', { saveAs: found.filename })
  })

  // Links are followed only when somebody asks for it: some of them confirm or unsubscribe.
  const following = { action: 'emails.send', reads: true } as const
  pages.post('/inbox/:id/links', following, async (visit) => {
    const message = await messageOf(visit)
    const { links } = checkLinks(message.content.html ?? '', message.content.text ?? '')
    const followed = await deps.followLinks(links.map(({ url }) => url))
    return await show(visit, message, { view: 'links', remotePictures: false, followed })
  })

  pages.post('/inbox/clear', { action: 'emails.send' }, async (visit) => {
    const cleared = await clearMessages({ ...inboxOf(visit), write })
    const audit = auditOf(operations.clearTestMails, { detail: { cleared } })
    return redirect(`${visit.base}/inbox`, { flash: 'The test inbox is empty', audit })
  })
}
