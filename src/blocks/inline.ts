import { isLinkTarget } from './target.js'

/** The words of a block as a tree: what people type is text, and only these kinds become markup. */
export type Inline =
  | { kind: 'text'; text: string }
  /** A merge tag or another piece of Liquid, as it was typed. */
  | { kind: 'tag'; liquid: string }
  | { kind: 'break' }
  | { kind: 'bold' | 'italic'; inside: Inline[] }
  | { kind: 'link'; url: string; inside: Inline[] }

const tag = /^(?:\{\{[^{}]{0,500}\}\}|\{%(?:(?!%\}).){0,500}%\})/s
const link =
  /^\[((?:\\.|[^[\]\\]|\{\{[^{}]*\}\})+)\]\(((?:\{\{[^{}]*\}\}|[^\s(){}]|\([^\s()]*\))+)\)/
// Nobody nests deeper; further marks are plain stars.
const maxDepth = 8

/** The paragraphs of a text: an empty line begins a new one, and a line end becomes a line break. */
export const paragraphsOf = (text: string): Inline[][] =>
  text
    .replace(/\r\n?/g, '\n')
    .split(/\n[ \t]*\n\s*/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => inlineOf(part))

/**
 * Reads `**bold**`, `*italic*`, `[words](target)`, tags, and `\\*` for a star. A mark without an end stays text as it
 * was typed, so that no letter is ever lost.
 */
export function inlineOf(text: string, depth = 0): Inline[] {
  const found: Inline[] = []
  // A mark that has no end after one place has none after a later one, so a text of stars is searched only once.
  const endless = new Set<string>()
  let plain = ''
  for (let at = 0; at < text.length; ) {
    const next = depth < maxDepth ? markAt(text, at, depth, endless) : undefined
    if (next !== undefined) {
      if (plain !== '') found.push({ kind: 'text', text: plain })
      plain = ''
      found.push(next.one)
      at = next.end
      continue
    }
    if (/^\\[\\*[\]{}]/.test(text.slice(at, at + 2))) at++
    plain += text[at]
    at++
  }
  if (plain !== '') found.push({ kind: 'text', text: plain })
  return found
}

const asLink = /\[([^[\]]{1,500})\]\([ \t]*((?:\{\{[^{}]*\}\}|[^\s(){}]|\([^\s()]*\))*)[ \t]*\)/g

/** What looks like a mark in a text and is none, so that it is sent as it was typed: a sentence for each. */
export function oddMarksIn(text: string): string[] {
  // A character after a backslash is meant literally.
  const plain = text.replace(/\\[\\*[\]{}]/g, ' ')
  const links = [...plain.matchAll(asLink)].flatMap(([, words = '', url = '']) =>
    isLinkTarget(url) ? [] : [{ words: words.trim(), url }],
  )
  const hasOpen = (words: readonly Inline[]): boolean =>
    words.some((one) =>
      one.kind === 'text' ? one.text.includes('**') : 'inside' in one && hasOpen(one.inside),
    )
  return [
    ...links.map(({ words, url }) =>
      url === ''
        ? `“${words}” has no address: write it as [${words}](https://…).`
        : `“${words}” is no link: ${url} is no address. One begins with https://, http:// or mailto:.`,
    ),
    ...(paragraphsOf(plain).some(hasOpen)
      ? ['** has no second ** behind the last bold word, so the stars are shown.']
      : []),
  ]
}

type Mark = { one: Inline; end: number }

/** The mark or tag that begins at a place, and where it ends. */
function markAt(text: string, at: number, depth: number, endless: Set<string>): Mark | undefined {
  switch (text[at]) {
    case '\n':
      return { one: { kind: 'break' }, end: at + 1 }
    case '{': {
      const [liquid] = tag.exec(text.slice(at)) ?? []
      return liquid === undefined
        ? undefined
        : { one: { kind: 'tag', liquid }, end: at + liquid.length }
    }
    case '[': {
      const [whole, words = '', url = ''] = link.exec(text.slice(at)) ?? []
      if (whole === undefined || !isLinkTarget(url)) return undefined
      const inside = inlineOf(words, depth + 1)
      return { one: { kind: 'link', url, inside }, end: at + whole.length }
    }
    case '*':
      return starsAt(text, at, depth, endless)
    default:
      return undefined
  }
}

/** A star opens before a word and closes after one, so `2*3*4` has no italic 3. */
function starsAt(text: string, at: number, depth: number, endless: Set<string>): Mark | undefined {
  const stars = text.startsWith('**', at) ? '**' : '*'
  const from = at + stars.length
  const isWord = (char = '') => /[\p{L}\p{N}]/u.test(char)
  if (endless.has(stars) || /\s/.test(text[from] ?? ' ')) return undefined
  if (stars === '*' && isWord(text[at - 1])) return undefined
  const closes = (place: number) =>
    !/[\s\\]/.test(text[place - 1] ?? '') &&
    (stars === '**' || (text[place + 1] !== '*' && !isWord(text[place + 1])))
  let end = text.indexOf(stars, from + 1)
  while (end >= 0 && !closes(end)) end = text.indexOf(stars, end + stars.length)
  if (end < 0) {
    endless.add(stars)
    return undefined
  }
  const inside = inlineOf(text.slice(from, end), depth + 1)
  return {
    one: { kind: stars === '**' ? 'bold' : 'italic', inside },
    end: end + stars.length,
  }
}
