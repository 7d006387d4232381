import { STATUS_CODES } from 'node:http'
import { publicError } from './failure.js'

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** A page for people: what happened, and the id to quote when asking for help. */
export function errorPage(error: unknown, requestId: string) {
  const { status, message, headers } = publicError(error)
  const title = STATUS_CODES[status] ?? 'Error'
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(message)}</p>
<p><small>Request ${escapeHtml(requestId)}</small></p>
</html>
`
  return { status, headers, html }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => entities[char] ?? char)
}
