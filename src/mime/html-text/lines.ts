import { decodeText, mayFill, withoutFilling } from './white-space.js'

const width = 76
// The longest prefix of lines that are quoted or listed deep inside others.
const longestPrefix = 20

const blank = 0x20
const ampersand = 0x26

/** A position in the text being written. */
export type Place = ReturnType<typeof beginning>

const beginning = () => ({
  /** The lines that are finished, each with its end. */
  done: '',
  line: '',
  /** Where the line may be broken, and where the next line would begin; 0: nowhere. */
  breakAt: 0,
  goOnAt: 0,
  /** The beginning of each line. */
  prefix: '',
  /** An item's marker, which replaces the end of the prefix before the next text. */
  marker: '',
  /** Line ends before the next text. */
  breaks: 0,
  /** A space before the next text. */
  isSpaced: false,
  /** The next text is the first of a further cell, on the previous cell's line. */
  isNextCell: false,
  /** This cell is still empty. */
  isEmptyCell: false,
  /** A space before the next text, if that is a word. */
  isGuarded: false,
  /** The next text is raised after a number, and its digits do not belong to that number. */
  isRaised: false,
  /** The last word so far ends in a digit. Reading the line itself would copy it each time. */
  isBehindDigit: false,
  /** Nothing has followed the last link yet. */
  isBehindLink: false,
  /** Pieces of text so far. */
  pieces: 0,
  /** How many lines were ended so far, and how many were wrapped. */
  ends: 0,
  wraps: 0,
  /** Both counts at the beginning of the cell's text. */
  cellEnds: 0,
  cellWraps: 0,
})

/** Written out, so that all copies share one hidden class. */
const copyOf = (place: Place): Place => ({
  done: place.done,
  line: place.line,
  breakAt: place.breakAt,
  goOnAt: place.goOnAt,
  prefix: place.prefix,
  marker: place.marker,
  breaks: place.breaks,
  isSpaced: place.isSpaced,
  isNextCell: place.isNextCell,
  isEmptyCell: place.isEmptyCell,
  isGuarded: place.isGuarded,
  isRaised: place.isRaised,
  isBehindDigit: place.isBehindDigit,
  isBehindLink: place.isBehindLink,
  pieces: place.pieces,
  ends: place.ends,
  wraps: place.wraps,
  cellEnds: place.cellEnds,
  cellWraps: place.cellWraps,
})

/** A text in lines, while it is written. */
export interface Lines {
  at: Place
  /** The words of the open link. */
  spoken: string | undefined
}

/**
 * Begins a text. Line ends and spaces are noted, and written with the following text, so that none are left at an end
 * and no two empty lines follow each other.
 */
export const makeLines = (): Lines => ({ at: beginning(), spoken: undefined })

export function restartLines(lines: Lines): void {
  lines.at = beginning()
  lines.spoken = undefined
}

/** The whole text, without a line end after it. */
export const written = ({ at }: Lines): string => at.done + at.line

/** Adds words, separated by white space. `isClean`: they have no entities and no fillers. */
export function addWords(lines: Lines, text: string, from: number, to: number, isClean = false) {
  for (let i = from; i < to; ) {
    const first = behindBlanks(text, i, to)
    if (first > i) lines.at.isSpaced = true
    if (first === to) return
    let end = endOfWord(text, first, to, isClean)
    if (end < 0) {
      const clean = withoutFilling(decodeText(text.slice(first, to)))
      return addWords(lines, clean, 0, clean.length, true)
    }
    open(lines.at, end - first, text.charCodeAt(first))
    // Words separated by one space that fit go into the line together.
    const { at } = lines
    const room = first + width - at.line.length
    let breakAt = 0
    while (end + 1 < to && text.charCodeAt(end) === blank && text.charCodeAt(end + 1) > blank) {
      const next = endOfWord(text, end + 1, to, isClean)
      if (next < 0 || next > room) break
      breakAt = end
      end = next
    }
    if (breakAt > 0) {
      at.breakAt = at.line.length + breakAt - first
      at.goOnAt = at.breakAt + 1
    }
    write(lines, text.slice(first, end))
    i = end
  }
}

function write(lines: Lines, piece: string): void {
  const { at } = lines
  at.line += piece
  at.isBehindDigit = isDigit(piece.charCodeAt(piece.length - 1))
  if (lines.spoken !== undefined) lines.spoken += piece
}

/** Writes the noted line ends and spaces before a text of this length and first character. */
function open(at: Place, length: number, first: number): void {
  at.pieces++
  const { prefix, marker } = at
  at.marker = ''
  const own = marker === '' ? prefix : prefix.slice(0, prefix.length - marker.length) + marker
  if (at.pieces === 1) at.line = own
  else if (at.breaks > 0) {
    newLine(at, at.breaks, own)
    at.ends++
  } else {
    const parted = partingOf(at, first)
    const isFull = at.line.length + parted.length + marker.length + length > width
    const isRoom = parted !== '' && parted !== '^'
    if (isFull && isRoom && at.line.length > prefix.length) {
      newLine(at, 1, own)
      at.wraps++
    } else if (isFull && !isRoom && at.breakAt > 0) {
      // The word began in an earlier element: the whole word moves to the next line.
      const begun = at.line.slice(at.goOnAt)
      at.line = at.line.slice(0, at.breakAt)
      newLine(at, 1, prefix + begun + parted + marker)
      at.wraps++
    } else {
      if (isRoom) {
        at.breakAt = at.line.length
        at.goOnAt = at.breakAt + parted.length
      }
      at.line += parted + marker
    }
  }
  if (at.isEmptyCell) {
    at.cellEnds = at.ends
    at.cellWraps = at.wraps
  }
  at.breaks = 0
  at.isSpaced = at.isNextCell = at.isEmptyCell = at.isGuarded = at.isBehindLink = false
  at.isRaised = at.isBehindDigit = false
}

/** The separator between the text so far and a text on the same line. */
function partingOf(at: Place, first: number): string {
  if (at.isNextCell) return '  '
  if (at.isSpaced || (at.isGuarded && isWordy(first))) return ' '
  return at.isRaised && at.isBehindDigit && isDigit(first) ? '^' : ''
}

function newLine(at: Place, breaks: number, prefix: string): void {
  at.done += `${at.line}\n`
  if (breaks > 1) at.done += `${between(at.line, prefix)}\n`.repeat(breaks - 1)
  at.line = prefix
  at.breakAt = 0
}

/** Whether the next text continues the line on which a cell or an item began. */
const isBegun = (at: Place): boolean => at.isNextCell || at.marker !== ''

/** Notes that the next text begins a line; with 2 after an empty line. */
export function breakLine({ at }: Lines, breaks: number): void {
  if (isBegun(at)) return
  if (at.breaks < breaks) at.breaks = breaks
  at.isSpaced = false
}

/** A line end in the middle of a text. */
export function endLine(lines: Lines): void {
  breakLine(lines, lines.at.breaks === 0 ? 1 : 2)
}

/** Adds a text that keeps its line ends and, with `keepsSpaces`, its spaces. */
export function addKept(lines: Lines, text: string, keepsSpaces: boolean): void {
  const all = text.split(/\r\n?|\n/)
  for (const [i, line] of all.entries()) {
    const { at } = lines
    if (i > 0 && at.pieces > 0 && !isBegun(at)) {
      at.breaks++
      at.isSpaced = false
    }
    if (!keepsSpaces) {
      const clean = withoutFilling(line)
      addWords(lines, clean, 0, clean.length, true)
    } else if (line.trim() !== '' || (line !== '' && i === all.length - 1)) {
      open(at, 0, 0)
      write(lines, line.replaceAll('\u00a0', ' '))
      at.breakAt = 0
    }
  }
}

/**
 * Adds a text that keeps its line ends and spaces in lines that fit; longer lines are broken, and keep their
 * indentation.
 */
export function addIndented(lines: Lines, text: string): void {
  const all = text.split(/\r\n?|\n/)
  for (const [i, line] of all.entries()) {
    if (i > 0) addKept(lines, '\n', false)
    const { at } = lines
    const begins = at.pieces === 0 || (at.breaks > 0 && !isBegun(at))
    const used = begins ? at.prefix.length : at.line.length
    // Between blocks there are only line ends and spaces of the HTML's writer.
    if (begins && line.trim() === '') endKept(lines)
    else if (used + line.length <= width) addKept(lines, line, true)
    else {
      const margin = begins ? (/^[ \t]{1,20}/.exec(line)?.[0] ?? '') : ''
      addKept(lines, margin, true)
      addKept(lines, line.slice(margin.length), false)
    }
  }
}

/** Leaves at most one empty line before the next text, whatever was kept. */
export function endKept({ at }: Lines): void {
  at.breaks = Math.min(at.breaks, 2)
}

/** Adds a text that is not broken, with spaces around it if it would touch a word. */
export function addApart({ at }: Lines, text: string): void {
  at.isGuarded = true
  open(at, text.length, letter)
  at.line += text
  at.isGuarded = true
}

/** Adds words with spaces around them if they would touch others. */
export function addWordsApart(lines: Lines, text: string): void {
  lines.at.isGuarded = true
  addWords(lines, text, 0, text.length, true)
  lines.at.isGuarded = true
}

/** Begins raised text. */
export function raise({ at }: Lines): void {
  at.isRaised = true
}

/** Returns to a place, and continues with a text that is not broken. */
export function replaceFrom(lines: Lines, place: Place, text: string): void {
  const { breaks } = lines.at
  lines.at = copyOf(place)
  addApart(lines, text)
  lines.at.breaks = breaks
  lines.at.isBehindLink = true
}

/** Begins a link: from now on its words are noted. Returns its place, to go back to. */
export function listen(lines: Lines): Place {
  const { at } = lines
  // Whoever copies two touching links would get one.
  if (at.isBehindLink && !at.isSpaced && !at.isNextCell) breakLine(lines, 1)
  lines.spoken = ''
  return copyOf(at)
}

/** The words of a link, without spaces. */
export function heard(lines: Lines): string {
  const words = lines.spoken ?? ''
  lines.spoken = undefined
  return words.replace(/\s+/g, '')
}

/** Adds a link's target to its last word, before anything noted after that word. */
export function addTarget({ at }: Lines, text: string): void {
  const { breaks } = at
  at.breaks = 0
  at.isSpaced = true
  open(at, text.length, letter)
  at.line += text
  at.breaks = breaks
  at.isGuarded = at.isBehindLink = true
}

/** Begins an item with its marker, or a quotation with its lines' prefix; the returned function ends it. */
export function indent(lines: Lines, marker: string, isMarker: boolean): () => void {
  const { at } = lines
  const { prefix } = at
  if (prefix.length + marker.length <= longestPrefix) {
    at.prefix = prefix + (isMarker ? ' '.repeat(marker.length) : marker)
    if (isMarker) at.marker += marker
  }
  return () => {
    // An item without text loses its marker too.
    const { marker: left, prefix: inner } = lines.at
    lines.at.marker = left.slice(0, Math.max(0, left.length - inner.length + prefix.length))
    lines.at.prefix = prefix
  }
}

const letter = 0x61

const isDigit = (char: number): boolean => char >= 0x30 && char <= 0x39

/** Letters and digits of any script, and the sign that opens a target. */
const isWordy = (char: number): boolean =>
  char >= 0x80 || isDigit(char) || (char >= 0x41 && char <= 0x5b) || (char >= 0x61 && char <= 0x7a)

/** An empty line between two texts, with the prefix of the quotation that both belong to. */
function between(before: string, prefix: string): string {
  let same = 0
  while (same < prefix.length && prefix[same] === before[same]) same++
  const quotes = prefix.slice(0, same).lastIndexOf('>')
  return prefix.slice(0, quotes + 1)
}

function behindBlanks(text: string, from: number, to: number): number {
  let i = from
  while (i < to && text.charCodeAt(i) <= blank) i++
  return i
}

/** Where the word ends; -1 if it has an entity, or may have a filler character. */
function endOfWord(text: string, from: number, to: number, isClean: boolean): number {
  let i = from
  for (; i < to; i++) {
    const char = text.charCodeAt(i)
    if (char <= blank) break
    if (isClean) continue
    if (char === ampersand || (char >= 0xa0 && mayFill(char))) return -1
  }
  return i
}
