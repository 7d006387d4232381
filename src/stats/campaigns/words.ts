// The most characters of a line in a table or on a page.
const mostWords = 300
// How much of a reply is read; servers say first what matters.
const mostRead = 2_000
// Longer than usual tracked links; still longer ones are counted together.
const mostUrl = 2_000

const address = /[^\s<>()"',;:=&?/]+(?:@|%40)[^\s<>()"',;:=&?/]+/gi
// A queue id or a token: letters and digits mixed, without the dots that host names have.
const token = /\b(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{10,}\b/gi

/**
 * A server's words in the form that many replies share: without addresses, which erasure would have to look for, and
 * without what differs in each reply. At most 300 characters.
 */
export function wordsOf(reply: string, recipient: string): string {
  const local = recipient.slice(0, recipient.lastIndexOf('@'))
  const words = reply
    .slice(0, mostRead)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(address, '…')
    .replaceAll(token, '…')
    .trim()
  return withoutName(words, local).slice(0, mostWords)
}

/** Some servers name the mailbox without its domain. */
function withoutName(words: string, local: string): string {
  if (local.length < 3) return words
  const name = local.toLowerCase()
  return words
    .split(/([^\w.+-]+)/)
    .map((part) => (part.toLowerCase() === name ? '…' : part))
    .join('')
}

/** A link as the counts name it, without addresses; undefined where it is too long to be kept. */
export function linkOf(url: string): string | undefined {
  return url.length > mostUrl ? undefined : url.replaceAll(address, '…')
}
