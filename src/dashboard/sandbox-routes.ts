import type { Clock } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { Page, Pages } from '../http/index.js'
import { readAttachment } from '../mime/index.js'
import { clearMessages, findMessage, rawMessage, type SandboxMessage } from '../sandbox/index.js'
import type { Store } from '../store/index.js'
import { inboxView, listQuery, messageId, page } from './inbox-view.js'
import { messageView } from './message-view.js'
import { messageJson, summaryJson } from './sandbox-json.js'
import { makeWaitForMessage } from './sandbox-wait.js'
import { render } from './views.js'

// A mail's HTML may style itself and show pictures that it carries; it loads nothing, runs nothing,
// sends no form, and is no origin of ours. Its links open in a new tab, where they are ordinary pages.
const framePermissions = 'allow-popups allow-popups-to-escape-sandbox'
const frameHeaders = {
  'Content-Security-Policy': `default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox ${framePermissions}`,
  'X-Frame-Options': 'SAMEORIGIN',
}
const sourceHeaders = { 'Content-Security-Policy': "default-src 'none'; sandbox" }

/** The sandbox inbox: list, message, its HTML, its source, the same as JSON, and clearing it. */
export function sandboxRoutes(pages: Pages, deps: { store: Store; clock: Clock }): void {
  const { store, clock } = deps
  const waitForMessage = makeWaitForMessage(deps)

  pages.get('/sandbox', async (request) => ({
    html: render('inbox', await inboxView(store, clock.now(), request)),
  }))

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
    if (found === undefined) throw new ApiError('not_found', 'No such attachment')
    const headers = { ...sourceHeaders, 'Content-Disposition': saved(found.filename) }
    const contentType = mediaType.test(found.mimeType) ? found.mimeType : 'application/octet-stream'
    return { bytes: found.bytes, contentType, headers }
  })

  // Like every post, it is refused when another site's page makes it.
  pages.post('/sandbox/clear.json', {}, () =>
    asJson(async () => ({ cleared: await clearMessages(store) })),
  )

  pages.get('/sandbox/:id', async ({ params }) => {
    // `/sandbox/1.json`: a route's parameter is a whole segment.
    const [, number, extension] = /^(\d+)(\.json)?$/.exec(params.id ?? '') ?? []
    const message = await wanted(number, (id) => findMessage(store, id))
    if (extension !== undefined) return json(messageJson(message))
    return { html: render('message', messageView(message, clock.now())) }
  })

  pages.get('/sandbox/:id/html', async ({ params }) => {
    const message = await wanted(params.id, (id) => findMessage(store, id))
    return { html: frameDocument(message), headers: frameHeaders }
  })

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

  // `Pages` refuses a post that another site's page makes.
  pages.post('/sandbox/clear', {}, async () => {
    await clearMessages(store)
    return { redirect: '/sandbox' }
  })
}

// What a mail says of its parts may be no type, and no header of ours.
const mediaType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/

/** RFC 6266 §4.3, RFC 8187 §3.2: saved and never shown, under the last part of its name. */
function saved(filename: string): string {
  const name = (filename.split(/[/\\]/).at(-1) || 'unnamed').toWellFormed()
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${name.replace(/[^\w. -]/g, '_')}"; filename*=UTF-8''${encoded}`
}

async function wanted<T>(
  id: string | undefined,
  find: (id: number) => Promise<T | undefined>,
): Promise<T> {
  const number = messageId(id ?? '')
  const found = number === undefined ? undefined : await find(number)
  if (found === undefined) throw new ApiError('not_found', 'No such message; it may be deleted')
  return found
}

/** In standards mode whatever the mail says, as a doctype of its own comes too late. */
function frameDocument({ content }: SandboxMessage): string {
  return `<!doctype html><meta charset="utf-8"><base target="_blank">${content.html ?? ''}`
}

/** Errors as JSON too. */
async function asJson(work: () => Promise<unknown>): Promise<Page> {
  try {
    return json(await work())
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { ...json({ code: error.code, error: error.message }), status: error.status }
  }
}

function json(value: unknown): Page {
  return {
    text: `${JSON.stringify(value, undefined, 2)}\n`,
    contentType: 'application/json; charset=utf-8',
  }
}
