/**
 * A text to look for in replies: parts that must occur in this order, `*` between them. The patterns by which refusals
 * are classified are globs too, with rules of their own: `reports/pattern.ts`.
 */
export type ReplyPattern = readonly string[]

// How many characters of a reply are searched.
const maxReply = 1_000

/**
 * Patterns are globs and not regular expressions. Operators write the patterns and strangers write the replies that
 * are searched; a regular expression can need hours for an unlucky pair of the two, while a glob needs at most one
 * walk through 1,000 characters for each of its parts. Undefined for a text that has no parts, or is too long.
 */
export function makeReplyPattern(text: string): ReplyPattern | undefined {
  const parts = normal(text)
    .split('*')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  return parts.length > 0 && text.length <= 200 ? parts : undefined
}

/** The words of a reply as patterns are compared with them; undefined where no server said them. */
export function wordsOf(reply: string): string | undefined {
  // A server's reply begins with its code; our own sentences ('Connection lost …', 'Given up … The last one: 421 …')
  // do not. If they were searched too, what we say about a suspension could set off the same suspension again, and
  // it would never end.
  if (!/^[45]\d\d[ -]/.test(reply)) return undefined
  // RFC 2034 §4: each line of a reply begins with the enhanced status code. It would stand in the middle of a
  // sentence that goes on over several lines.
  return normal(reply.slice(0, maxReply).replace(/\n[45]\.\d{1,3}\.\d{1,3} /g, '\n'))
}

/** Whether the pattern's parts stand in `words` (of `wordsOf`), one after the other. */
export function occursIn(pattern: ReplyPattern, words: string): boolean {
  let from = 0
  for (const part of pattern) {
    const at = words.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return true
}

/** Lower case, each run of white space one blank: replies break lines anywhere. */
const normal = (text: string) => text.toLowerCase().replace(/\s+/g, ' ')
