/** A text to look for in replies: parts that must occur in this order, `*` between them. */
export type ReplyPattern = readonly string[]

const maxReply = 1_000

/**
 * Globs and no regular expressions: operators write these, receivers write what is searched, and
 * this way no pair of them can take more than one walk through 1,000 characters for each part.
 */
export function makeReplyPattern(text: string): ReplyPattern | undefined {
  const parts = normal(text)
    .split('*')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  return parts.length > 0 && text.length <= 200 ? parts : undefined
}

/** The words of a reply as patterns are compared with them; undefined for what no server said. */
export function wordsOf(reply: string): string | undefined {
  // Our own sentences ('Connection lost …', 'Given up … The last one: 421 …') begin with no code: a
  // suspension that fed on what we say about it would never end.
  if (!/^[45]\d\d[ -]/.test(reply)) return undefined
  // RFC 2034 §4: the status is repeated on every line, in the middle of sentences.
  return normal(reply.slice(0, maxReply).replace(/\n[45]\.\d{1,3}\.\d{1,3} /g, '\n'))
}

export function occursIn(pattern: ReplyPattern, words: string): boolean {
  let from = 0
  for (const part of pattern) {
    const at = words.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return true
}

const normal = (text: string) => text.toLowerCase().replace(/\s+/g, ' ')
