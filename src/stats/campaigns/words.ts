// A line of a table, and of a page.
const mostWords = 300
// What is looked at of a reply; servers say what matters first.
const mostRead = 2_000
// As long as links that are tracked usually are; longer ones are counted together.
const mostUrl = 2_000

const address = /[^\s<>()"',;:=&?/]+(?:@|%40)[^\s<>()"',;:=&?/]+/gi
// A queue id or a token: letters and digits mixed, without a dot between letters as names of hosts have it.
const token = /\b(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{10,}\b/gi

/**
 * A server's words as many replies have them: without addresses, which erasure would have to look for, and
 * without what is another one in each reply. At most 300 characters.
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

/** A link as the counts name it, or undefined where it is too long to be kept: without addresses. */
export function linkOf(url: string): string | undefined {
  return url.length > mostUrl ? undefined : url.replaceAll(address, '…')
}
