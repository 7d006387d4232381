import { isAt } from './names.js'

/** The declarations of a style that matter to the text, as bits. */
export const says = {
  /** `display: none`. */
  none: 1,
  /** Any other display. */
  display: 1 << 1,
  /** A display that begins a line. */
  block: 1 << 2,
  /** Invisible, with everything in it. */
  invisible: 1 << 3,
  /** Hidden in Outlook. */
  msoHide: 1 << 4,
  /** A box without height or width. */
  noRoom: 1 << 5,
  clips: 1 << 6,
  noFont: 1 << 7,
  font: 1 << 8,
  noLine: 1 << 9,
  line: 1 << 10,
  /** Line ends are kept. */
  lines: 1 << 11,
  /** Line ends and spaces are kept. */
  spaces: 1 << 12,
  /** White space is collapsed as usual. */
  flows: 1 << 13,
  /** Items of the list have no marker. */
  noMarker: 1 << 14,
  /** A display is `!important`. */
  important: 1 << 15,
  /** Line ends and spaces are kept, and long lines are broken. */
  indents: 1 << 16,
} as const

const colon = 0x3a
const exclamation = 0x21

/**
 * The place of the next semicolon in a source, so that each is searched for once, however many styles
 * have none.
 */
export interface Semicolons {
  source: string
  next: number
}

/** Reads the declarations between two places of a source. */
export function readStyle(semicolons: Semicolons, from: number, to: number): number {
  const { source } = semicolons
  let said = 0
  for (let at = from; at < to; ) {
    if (semicolons.next < at) {
      const next = source.indexOf(';', at)
      semicolons.next = next === -1 ? source.length : next
    }
    const end = Math.min(semicolons.next, to)
    while (at < end && source.charCodeAt(at) <= 0x20) at++
    if (at < end && ((letters >>> (source.charCodeAt(at) & 31)) & 1) === 1) {
      said = withDeclaration(said, source, at, end)
    }
    at = end + 1
  }
  return said
}

/** The first letters of the properties that matter: d, f, h, l, m, o, v and w. */
const letters = [...'dfhlmovw'].reduce(
  (bits, letter) => bits | (1 << (letter.charCodeAt(0) & 31)),
  0,
)

/** The bits so far, changed by one declaration. */
function withDeclaration(said: number, source: string, start: number, end: number): number {
  const on = (name: string) => valueAt(name, source, start, end)
  switch (source.charCodeAt(start) | 32) {
    case 0x64: // d
      return withDisplay(said, source, on('display'), end)
    case 0x66: // f
      return withSize(said, source, on('font-size'), says.noFont, says.font)
    case 0x6c: {
      const list = on('list-style') || on('list-style-type')
      if (list > 0) return isAt('none', source, list) ? said | says.noMarker : said
      return withSize(said, source, on('line-height'), says.noLine, says.line)
    }
    case 0x68: // h
      return withSize(said, source, on('height'), says.noRoom, 0)
    case 0x6d: {
      const hides = on('mso-hide')
      if (hides > 0) return isAt('all', source, hides) ? said | says.msoHide : said
      return withSize(said, source, on('max-height') || on('max-width'), says.noRoom, 0)
    }
    case 0x6f: {
      const overflow = on('overflow') || on('overflow-y') || on('overflow-x')
      if (overflow > 0) return isAt('hidden', source, overflow) ? said | says.clips : said
      return withSize(said, source, on('opacity'), says.invisible, 0)
    }
    case 0x76: {
      const value = on('visibility')
      const hides = isAt('hidden', source, value) || isAt('collapse', source, value)
      return value > 0 && hides ? said | says.invisible : said
    }
    case 0x77: {
      const value = on('white-space')
      if (value > 0) return withWhiteSpace(said, source, value)
      return withSize(said, source, on('width'), says.noRoom, 0)
    }
    default:
      return said
  }
}

/** Where the declaration's value begins, if it sets that property; else 0. */
function valueAt(name: string, source: string, start: number, end: number): number {
  if (!isAt(name, source, start)) return 0
  let at = start + name.length
  while (at < end && source.charCodeAt(at) <= 0x20) at++
  if (source.charCodeAt(at) !== colon) return 0
  at++
  while (at < end && source.charCodeAt(at) <= 0x20) at++
  return at < end ? at : 0
}

function withDisplay(said: number, source: string, value: number, end: number): number {
  if (value === 0) return said
  const before = said & ~(says.none | says.display | says.block | says.important)
  let bang = value
  while (bang < end && source.charCodeAt(bang) !== exclamation) bang++
  const important = bang < end ? says.important : 0
  if (isAt('none', source, value)) return before | says.none | important
  const isBlock = blocks.some((name) => isAt(name, source, value))
  return before | says.display | (isBlock ? says.block : 0) | important
}

const blocks = ['block', 'table', 'flex', 'grid', 'list-item', 'flow-root']

/** Notes whether a length is zero; with a bit for `some`, the later of two declarations counts. */
function withSize(said: number, source: string, value: number, nothing: number, some: number) {
  if (value === 0) return said
  if (isNothing(source, value)) return (said | nothing) & ~some
  return some === 0 ? said : (said | some) & ~nothing
}

/** `0`, `0px`, `.0em`: a number whose digits are all 0. */
function isNothing(source: string, at: number): boolean {
  let digits = 0
  for (let i = at; i < source.length; i++) {
    const char = source.charCodeAt(i)
    if (char === 0x30) digits++
    else if (char !== 0x2e) return digits > 0 && (char < 0x31 || char > 0x39)
  }
  return digits > 0
}

function withWhiteSpace(said: number, source: string, value: number): number {
  const before = said & ~(says.lines | says.spaces | says.indents | says.flows)
  if (isAt('pre-line', source, value)) return before | says.lines
  if (isAt('pre-wrap', source, value) || isAt('break-spaces', source, value)) {
    return before | says.indents
  }
  return before | (isAt('pre', source, value) ? says.spaces : says.flows)
}
