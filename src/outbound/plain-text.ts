import { convert } from 'html-to-text'

// A body is data from outside: what is past these bounds is cut, not chewed on.
const limits = { maxInputLength: 512 * 1024, maxDepth: 100, maxChildNodes: 5_000 }

/** The text part for mail that came with HTML alone. */
export function plainTextOf(html: string): string {
  return convert(html, {
    wordwrap: 76,
    limits,
    selectors: [
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
      { selector: 'img', format: 'skip' },
      { selector: 'table', format: 'block' },
    ],
  })
}
