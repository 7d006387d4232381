import type { Clock } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import type { Page, Pages } from '../../http/index.js'
import { frameHeaders, readAttachment } from '../../mime/index.js'
import { clearMessages, findMessage, rawMessage, type SandboxMessage } from '../../sandbox/index.js'
import type { Store } from '../../store/index.js'
import { file, page as inLayout, redirect } from '../shell/answer.js'
import type { OpenPages } from '../shell/page.js'
import { savedAs } from '../shell/send.js'
import type { AskedPage } from '../shell/visit.js'
import type { FollowLinks } from './follow-links.js'
import { framedMail } from './frame.js'
import { checkHtml } from './html-check.js'
import { inboxView, listQuery, messageId, page } from './inbox.js'
import { checkLinks } from './link-check.js'
import { checkMail } from './mail-check.js'
import { type MessageLook, messageView } from './message.js'
import { messageJson, summaryJson } from './message-json.js'
import { makeWaitForMessage } from './wait.js'

/** A mail's source is shown as text. If a browser takes it for something else, nothing in it can run. */
const sourceHeaders = { 'Content-Security-Policy': "default-src 'none'; sandbox" }

interface SandboxDeps {
  store: Store
  clock: Clock
  followLinks: FollowLinks
}

/** The sandbox inbox: list, message, its HTML, its source, its checks, the same as JSON, and clearing it. */
export function sandboxRoutes(open: OpenPages, pages: Pages, deps: SandboxDeps): void {
  const { store, clock, followLinks } = deps
  const waitForMessage = makeWaitForMessage(deps)
  const showMessage = async (message: SandboxMessage, looked: MessageLook) => {
    const raw = await wanted(String(message.id), (id) => rawMessage(store, id))
    const view = messageView(message, raw, clock.now(), looked)
    return inLayout('sandbox/message', view, { title: view.subject })
  }

  open.get('/sandbox', 'open', async ({ request }) =>
    inLayout('sandbox/inbox', await inboxView(store, clock.now(), request), {
      title: 'Sandbox inbox',
    }),
  )

  // With `pages`, not with the shell: programs get no page around it and no session is looked for.
  pages.get('/sandbox.json', async ({ query }) => {
    const { messages, nextBefore } = await page(store, listQuery(query))
    return json({ messages: messages.map(summaryJson), nextBefore: nextBefore ?? null })
  })

  // For the tests of other programs, which wait for a mail and look into it.
  pages.get('/sandbox/wait.json', async ({ query }) =>
    asJson(async () => messageJson(await waitForMessage(query))),
  )

  pages.get('/sandbox/:id/attachments/:index', async ({ params }) => {
    const index = messageId(params.index ?? '')
    const raw = await wanted(params.id, (id) => rawMessage(store, id))
    const found = index === undefined ? undefined : await readAttachment(raw, index)
    if (found === undefined)
      throw new ApiError('not_found', 'The message has no attachment with this number')
    return attachmentPage(found)
  })

  // Like every post, it is refused when another site's page makes it.
  pages.post('/sandbox/clear.json', {}, () =>
    asJson(async () => ({ cleared: await clearMessages(store) })),
  )

  open.get('/sandbox/:id', 'open', async ({ params, query }: AskedPage) => {
    // The path is `/sandbox/1.json`: a route's parameter is a whole segment.
    const [, number, extension] = /^(\d+)(\.json)?$/.exec(params.id ?? '') ?? []
    const message = await wanted(number, (id) => findMessage(store, id))
    if (extension !== undefined) {
      const { text, contentType } = json(messageJson(message))
      return file(text, contentType)
    }
    const remotePictures = query.get('pictures') === 'all'
    return await showMessage(message, { view: query.get('view'), remotePictures })
  })

  pages.get('/sandbox/:id/html', async ({ params, query }) => {
    const message = await wanted(params.id, (id) => findMessage(store, id))
    const raw = await wanted(params.id, (id) => rawMessage(store, id))
    const headers = frameHeaders({ remotePictures: query.get('pictures') === 'all' })
    return { html: await framedMail(message.content, raw), headers }
  })

  pages.get('/sandbox/:id/checks.json', ({ params }) =>
    asJson(async () => checksJson(await wanted(params.id, (id) => findMessage(store, id)))),
  )

  pages.get('/sandbox/:id/source', async ({ params }) => {
    const bytes = await wanted(params.id, (id) => rawMessage(store, id))
    return { bytes, contentType: 'text/plain; charset=utf-8', headers: sourceHeaders }
  })

  pages.get('/sandbox/:id/download', async ({ params }) => {
    const bytes = await wanted(params.id, (id) => rawMessage(store, id))
    const disposition = `attachment; filename="message-${messageId(params.id ?? '')}.eml"`
    const headers = { ...sourceHeaders, 'Content-Disposition': disposition }
    return { bytes, contentType: 'message/rfc822', headers }
  })

  // Links are followed only when somebody asks for it, never because a mail came or was looked at:
  // some of them confirm or unsubscribe.
  const follow = async (id: string | undefined) => {
    const message = await wanted(id, (id) => findMessage(store, id))
    const { links } = checkLinks(message.content.html ?? '', message.content.text ?? '')
    return { message, followed: await followLinks(links.map(({ url }) => url)) }
  }
  open.post('/sandbox/:id/links', { action: 'open', reads: true }, async ({ params }) => {
    const { message, followed } = await follow(params.id)
    return await showMessage(message, { view: 'links', remotePictures: false, followed })
  })
  pages.post('/sandbox/:id/links.json', {}, ({ params }) =>
    asJson(async () => ({ links: (await follow(params.id)).followed })),
  )

  open.post('/sandbox/clear', { action: 'open' }, async () => {
    await clearMessages(store)
    return redirect('/sandbox', { flash: 'The inbox is empty' })
  })
}

/** Never sent with the type that the mail gives: a stranger's script would then come from our own origin. */
function attachmentPage({ bytes, filename }: { bytes: Buffer; filename: string }) {
  const headers = {
    ...sourceHeaders,
    'Content-Disposition': savedAs(filename),
    'Cross-Origin-Resource-Policy': 'same-origin',
  }
  return { bytes, contentType: 'application/octet-stream', headers }
}

/**
 * The message with this id. It may go while it is looked at: the inbox keeps only the newest ones.
 */
async function wanted<T>(
  id: string | undefined,
  find: (id: number) => Promise<T | undefined>,
): Promise<T> {
  const number = messageId(id ?? '')
  const found = number === undefined ? undefined : await find(number)
  if (found === undefined)
    throw new ApiError(
      'not_found',
      'The inbox has no message with this id; it may have been deleted',
    )
  return found
}

/** What a mail's checks found, for the tests of other programs. */
function checksJson(message: SandboxMessage) {
  const { html, text } = message.content
  return {
    findings: checkMail(message),
    clients: checkHtml(html ?? ''),
    links: checkLinks(html ?? '', text ?? '').links,
  }
}

/** Answers errors as JSON too. */
async function asJson(work: () => Promise<unknown>): Promise<Page> {
  try {
    return json(await work())
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { ...json({ code: error.code, error: error.message }), status: error.status }
  }
}

/** An answer for programs, which people can read too. */
function json(value: unknown) {
  return {
    text: `${JSON.stringify(value, undefined, 2)}\n`,
    contentType: 'application/json; charset=utf-8',
  }
}
