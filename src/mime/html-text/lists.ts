import { indent, type Lines } from './lines.js'

// Before an item of a list without numbers.
const bullet = '- '

/** Lists, their items and other indented elements. */
export function makeLists(lines: Lines) {
  const unnumbered = (): string => bullet
  let markerOf: (own?: number) => string = unnumbered
  let depth = 0

  const begin = (marker: typeof markerOf) => {
    const outer = markerOf
    markerOf = marker
    depth++
    return () => {
      markerOf = outer
      depth--
    }
  }

  return {
    restart() {
      markerOf = unnumbered
      depth = 0
    },
    /** Whether a new list would be inside another. */
    isInner: (): boolean => depth > 0,
    bullets: (isMarked: boolean) => begin(() => (isMarked ? bullet : '')),
    /** Items with numbers, or with letters if `type` says so. */
    numbers(start: string | undefined, type: string | undefined, isMarked: boolean) {
      let next = numberIn(start) ?? 1
      return begin((own) => {
        const number = own ?? next
        next = number + 1
        return isMarked ? `${inLetters(number, type) ?? number}. ` : ''
      })
    },
    /** An item; the next ones continue from its own number, if it has one. */
    item: (value: string | undefined) => indent(lines, markerOf(numberIn(value)), true),
    quotation: () => indent(lines, '> ', false),
    /** The description of a term. */
    saying: () => indent(lines, '  ', false),
  }
}

function numberIn(value: string | undefined): number | undefined {
  return value !== undefined && /^\s*-?\d{1,6}\s*$/.test(value) ? Number(value) : undefined
}

/** `a` for 1. */
function inLetters(number: number, type: string | undefined): string | undefined {
  if ((type !== 'a' && type !== 'A') || number < 1 || number > 26) return undefined
  return String.fromCharCode(type.charCodeAt(0) + number - 1)
}
