import { createHash } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { escapeHtml } from '../mime/index.js'
import { publicError } from './failure.js'

// Inside the page, which must look well even when no style sheet can be served. The policy names its hash.
const style =
  ':root{color-scheme:light dark}body{margin:0;background:#f7f6f3;color:#1f1d1a;font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;overflow-wrap:anywhere}main{max-width:34rem;margin:0 auto;padding:14vh 1.25rem 3rem}svg{display:block;width:40px;height:40px;margin:0 0 1.25rem}h1{margin:0 0 .5rem;font-size:1.6rem;line-height:1.2;letter-spacing:-.015em}p{margin:0 0 1rem}a{color:inherit}small,.quiet{color:#645f57;font-size:.9rem}@media (prefers-color-scheme:dark){body{background:#161513;color:#eeebe5}small,.quiet{color:#aba59b}}'
const styleHash = createHash('sha256').update(style).digest('base64')

const mark =
  '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#c07f07"/><g fill="none" stroke="#fff" stroke-width="2.3" stroke-linecap="round" stroke-linejoin="round"><path d="M5.5 10.5H20"/><circle cx="13.5" cy="17.3" r="6.8"/><path d="M20 10.5l6.5-3.3v9.6L20 13.5z" fill="#fff"/></g></svg>'

/** A page that needs no other file; `paragraphs` are texts. */
export function standalonePage(
  title: string,
  paragraphs: readonly string[],
  {
    small = '',
    home = '',
    language = 'en',
  }: { small?: string; home?: string; language?: string } = {},
) {
  const html = `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
<main>
${mark}
<h1>${escapeHtml(title)}</h1>
${paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join('\n')}
${home === '' ? '' : `<p><a href="/">${escapeHtml(home)}</a></p>`}
${small === '' ? '' : `<p><small>${escapeHtml(small)}</small></p>`}
</main>
</html>
`
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  return { html, headers: { 'Content-Security-Policy': policy } }
}

/** A page for people: what happened, and the id to quote when asking for help. */
export function errorPage(error: unknown, requestId: string) {
  const known = publicError(error)
  const title = STATUS_CODES[known.status] ?? 'Error'
  const { html, headers } = standalonePage(title, [known.message], {
    small: `Request ${requestId}`,
    home: 'To the front page',
  })
  return { status: known.status, headers: { ...headers, ...known.headers }, html }
}
