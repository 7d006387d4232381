import { createRequire } from 'node:module'
import type { compile } from 'html-to-text'

// A body is data from outside: what is past these bounds is cut, not chewed on. The converter's time
// grows with the square of the tags that stand open; so many take it 40 ms (measured 2026-11-21).
const maxChars = 512 * 1024
const maxTags = 10_000
const limits = { maxInputLength: maxChars, maxDepth: 100, maxChildNodes: 5_000 }

/** The text part for mail that came with HTML alone. */
export function plainTextOf(html: string): string {
  convert ??= makeConvert()
  return convert(bounded(html))
}

let convert: ReturnType<typeof compile> | undefined

/** Once: compiling the selectors takes four times as long as converting a mail with them. */
function makeConvert(): ReturnType<typeof compile> {
  const htmlToText: typeof import('html-to-text') = createRequire(import.meta.url)('html-to-text')
  return htmlToText.compile({
    wordwrap: 76,
    limits,
    selectors: [
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
      { selector: 'img', format: 'skip' },
      { selector: 'table', format: 'block' },
    ],
  })
}

/** The beginning of a text that has no more tags and characters than the converter gets. */
function bounded(html: string): string {
  let end = html.indexOf('<')
  for (let tags = 1; end >= 0 && tags <= maxTags; tags++) end = html.indexOf('<', end + 1)
  return html.slice(0, Math.min(maxChars, end < 0 ? html.length : end))
}
