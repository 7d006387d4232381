export interface CssPiece {
  kind: 'at' | 'selector' | 'declaration'
  text: string
}

/**
 * Takes a style sheet, or the inside of a `style` attribute, apart in one pass, as CSS Syntax 3 §3.3 would: comments
 * left out, strings and brackets whole. Nothing in it is an error: mail has the CSS that it has.
 */
export function* cssPieces(css: string): Generator<CssPiece> {
  let text = ''
  let depth = 0
  const piece = (ender: string): CssPiece | undefined => {
    const found = text.trim()
    text = ''
    if (found === '') return undefined
    if (found.startsWith('@')) return { kind: 'at', text: found }
    if (ender === '{') return { kind: 'selector', text: found }
    return found.includes(':') ? { kind: 'declaration', text: found } : undefined
  }
  for (let at = 0; at < css.length; at++) {
    const char = css[at] ?? ''
    if (char === '/' && css[at + 1] === '*') {
      at = endOf(css, '*/', at + 2) + 1
    } else if (char === '"' || char === "'") {
      const end = endOf(css, char, at + 1)
      text += css.slice(at, Math.min(end + 1, at + maxStringChars))
      at = end
    } else if (depth === 0 && (char === '{' || char === '}' || char === ';')) {
      const found = piece(char)
      if (found !== undefined) yield found
    } else {
      if (char === '(') depth++
      if (char === ')') depth = Math.max(0, depth - 1)
      text += char
    }
  }
  const last = piece('}')
  if (last !== undefined) yield last
}

const maxStringChars = 200

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from)
  return end === -1 ? text.length : end
}
