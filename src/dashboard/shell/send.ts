import { randomBytes } from 'node:crypto'
import type { Page as Sent } from '../../http/index.js'
import { frameDocument, frameHeaders } from '../../mime/index.js'
import type { PageAnswer } from './answer.js'
import { layout, type PageSurroundings } from './layout.js'
import { withOnce } from './once.js'
import { render } from './render.js'

// The policy of all our pages: only our own scripts and styles run, so that text that slips through unescaped does
// nothing.
const own = "default-src 'self'; base-uri 'none'; form-action 'self'; object-src 'none'"

// Browsers send no `Origin` with a form from a page with 'no-referrer', but `own-page.ts` needs that header to tell
// our own posts from others'.
const toOwnPages = { 'Referrer-Policy': 'same-origin' }

/** An answer as `http` sends it. `around` is called for pages only; `newId` makes the value of its forms. */
export async function sendAnswer(
  answer: PageAnswer,
  around: () => Promise<PageSurroundings>,
  newId: () => string,
): Promise<Sent> {
  const { headers = {} } = answer
  if (answer.kind === 'redirect') {
    return { redirect: answer.to, status: answer.keepsForm ? 307 : 303, headers }
  }
  if (answer.kind === 'nothing') {
    return { status: 204, bytes: Buffer.alloc(0), contentType: 'text/plain', headers }
  }
  if (answer.kind === 'frame') {
    return { html: frameDocument(answer.html), headers: { ...frameHeaders(answer), ...headers } }
  }
  if (answer.kind === 'file') {
    const { body, contentType, saveAs } = answer
    const saved: Record<string, string> =
      saveAs === undefined ? {} : { 'Content-Disposition': savedAs(saveAs) }
    // A file that a browser shows instead of saving it (HTML, SVG) must not run anything.
    const all = { 'Content-Security-Policy': "default-src 'none'; sandbox", ...saved, ...headers }
    if (typeof body === 'string') return { bytes: Buffer.from(body), contentType, headers: all }
    if (Buffer.isBuffer(body)) return { bytes: body, contentType, headers: all }
    return { stream: body, contentType, headers: all }
  }
  const { template, view, look } = answer
  // CodeMirror makes its style sheet in the browser; only the page with the editor allows that. The nonce is new for
  // each answer: markup that somebody slipped into a page cannot know it.
  const nonce = look.editor === true ? randomBytes(16).toString('base64') : undefined
  const surroundings = await around()
  const content = render(template, view, surroundings.person?.timeZone ?? 'UTC')
  const html = withOnce(layout(content, look, surroundings, nonce), newId())
  const policy = nonce === undefined ? own : `${own}; style-src 'self' 'nonce-${nonce}'`
  return {
    html,
    status: look.status ?? 200,
    headers: {
      ...toOwnPages,
      'Content-Security-Policy': `${policy}; frame-ancestors 'none'`,
      ...headers,
    },
  }
}

/**
 * A Content-Disposition that saves the file under the last part of the name: a path in the name, such as that of a
 * mail's attachment, must not choose a folder. RFC 6266 §4.3, RFC 8187 §3.2: once for old browsers in ASCII, once in
 * full.
 */
export function savedAs(filename: string): string {
  const name = (filename.split(/[/\\]/).at(-1) || 'unnamed').toWellFormed()
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${name.replace(/[^\w. -]/g, '_')}"; filename*=UTF-8''${encoded}`
}
