import { idOf } from './elements.js'
import {
  addApart,
  addIndented,
  addKept,
  addWords,
  breakLine,
  endLine,
  makeLines,
  restartLines,
  written,
} from './lines.js'
import { makeOpenElements, type OpenElement } from './open-elements.js'
import { makeScan, nothingTold } from './scan.js'
import { flows, keepsIndents, keepsSpaces, makeSeen } from './seen.js'
import { makeStructure } from './structure.js'
import type { Tag } from './tag.js'
import { decodeText } from './white-space.js'

/** A mail's HTML in words. */
export interface PlainText {
  text: string
  /** The text is incomplete, as its last line says. */
  isCut: boolean
}

// A body is data from outside, and may be 2 MiB of tags. Bodies up to this length are never cut.
export const neverCutChars = 512 * 1024

const theRest = '… the rest is in the HTML part'

/**
 * The text of a mail's HTML for readers without HTML: one pass over its tags, without a tree, in time that grows only
 * with its length.
 */
export const textOfHtml = (html: string): PlainText => convert(html)

/**
 * Whether the text of a mail's HTML would be cut; reads only its tags, in a fraction of the time.
 */
export const isTextCut = (html: string): boolean =>
  html.length > neverCutChars && !makeScan(neverCutChars, nothingTold)(html)

function makeConverter(): (html: string) => PlainText {
  const lines = makeLines()
  const seen = makeSeen()
  const structure = makeStructure(lines)
  let html = ''
  let hidden = 0
  let isAtPre = false

  const elements = makeOpenElements((one) => {
    if (one.hides) hidden--
    one.end?.()
    if (hidden > 0) return
    if (one.breaks > 0) breakLine(lines, one.breaks)
    seen.whiteSpace = one.whiteSpace
    seen.isTextless = one.isTextless
  })

  const startTag = (tag: Tag) => {
    const { element } = tag
    isAtPre = element.id === pre
    elements.endImplied(element)
    if (element.isVoid) {
      if (hidden > 0) return
      const said = seen.styleOf(tag)
      if (!seen.isHidden(tag, said)) structure.leaf(tag, said)
      return
    }
    const { whiteSpace, isTextless } = seen
    const one: OpenElement = {
      element,
      hides: false,
      breaks: 0,
      end: undefined,
      whiteSpace,
      isTextless,
    }
    if (hidden > 0) return elements.push(one)
    const said = seen.styleOf(tag)
    if (seen.isHidden(tag, said)) {
      hidden++
      one.hides = true
      return elements.push(one)
    }
    const breaks = structure.breaksOf(element, said)
    if (breaks > 0) breakLine(lines, breaks)
    one.breaks = breaks
    one.end = structure.begin(tag, said)
    seen.enter(element, said)
    const isChanged = seen.whiteSpace !== whiteSpace || seen.isTextless !== isTextless
    if (breaks > 0 || one.end !== undefined || isChanged || elements.isOpen(element)) {
      elements.push(one)
    }
  }

  const scan = makeScan(neverCutChars, {
    startTag,
    endTag(element) {
      if (elements.endTag(element) || hidden > 0) return
      // HTML §13.2.6.4.7: an end tag of these two without a start tag begins the element.
      if (element.id === lineBreak) endLine(lines)
      else if (element.id === paragraph) breakLine(lines, 2)
    },
    text(from, to) {
      if (hidden > 0 || seen.isTextless) return
      if (seen.whiteSpace === flows) return addWords(lines, html, from, to)
      const source = html.slice(from, to)
      // HTML §13.2.6.4.7: a line end at the very beginning of a `pre` does not count.
      const kept = isAtPre ? source.replace(/^\r?\n/, '') : source
      isAtPre = false
      const decoded = decodeText(kept)
      if (seen.whiteSpace === keepsIndents) addIndented(lines, decoded)
      else addKept(lines, decoded, seen.whiteSpace === keepsSpaces)
    },
    raw(element, from, to) {
      if (element.id === style) seen.readSheet(from, to)
    },
    comment: (from) => seen.comment(from),
  })

  const restart = (source: string) => {
    html = source
    hidden = 0
    isAtPre = false
    restartLines(lines)
    seen.restart(source)
    structure.restart()
    elements.restart()
  }

  return (source) => {
    restart(source)
    const isWhole = scan(source)
    elements.endFrom(0)
    if (!isWhole) {
      breakLine(lines, 1)
      addApart(lines, theRest)
    }
    const text = written(lines)
    // So that the mail is not held until the next one.
    restart('')
    scan('')
    return { text, isCut: !isWhole }
  }
}

const pre = idOf('pre')
const paragraph = idOf('p')
const lineBreak = idOf('br')
const style = idOf('style')

// One for all mails of the thread: functions made for each mail would be compiled each time.
const convert = makeConverter()
