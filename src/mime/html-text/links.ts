import {
  addApart,
  addTarget,
  addWordsApart,
  heard,
  type Lines,
  listen,
  type Place,
  replaceFrom,
} from './lines.js'
import { isSameTarget, targetOf } from './target.js'
import { withoutFilling } from './white-space.js'

/** Links and pictures, told in words. */
export function makeLinks(lines: Lines) {
  let link: { target: string; place: Place; hasPicture: boolean } | undefined
  let told = new Set<string>()
  // The previous link, and how much text had been written after it.
  const nothing = { target: '', words: '', pieces: 0 }
  let before = nothing
  // Where the previous link begins, if it is a picture that told only its target.
  let wordless: Place | undefined

  const end = () => {
    if (link === undefined) return
    const { target, place, hasPicture } = link
    link = undefined
    wordless = undefined
    const words = heard(lines)
    if (words === before.words && target === before.target && place.pieces === before.pieces) {
      // A picture and its caption are both links to the same target.
      lines.at = place
      return
    }
    if (words === '') {
      // A picture without words: its link would be lost, unless the text already has it.
      if (hasPicture && !told.has(target)) {
        addApart(lines, `[${target}]`)
        wordless = place
      }
    } else if (!isSameTarget(words, target)) addTarget(lines, `[${target}]`)
    else if (words !== target) replaceFrom(lines, place, target)
    if (words !== '' || hasPicture) told.add(target)
    before = { target, words, pieces: lines.at.pieces }
  }

  /** Removes a picture without words if the following words lead to the same place. */
  const goBack = (target: string): boolean => {
    const { at } = lines
    const isSame = target === before.target && at.pieces === before.pieces
    if (wordless === undefined || !isSame || wordless.prefix !== at.prefix) return false
    lines.at = wordless
    told.delete(target)
    return true
  }

  const begin = (href: string | undefined) => {
    end()
    const target = href === undefined ? undefined : targetOf(href)
    if (target === undefined) return undefined
    const isAgain = goBack(target)
    const own = { target, place: listen(lines), hasPicture: isAgain }
    link = own
    return () => {
      if (link === own) end()
    }
  }

  return {
    restart() {
      link = wordless = undefined
      told = new Set()
      before = nothing
    },
    /** Begins a link; the returned function ends it. Undefined if it leads nowhere. */
    begin,
    /** Tells a picture by its alternative text; `isSeen`: it is no tracking pixel or spacer. */
    picture(alt: string | undefined, isSeen: boolean) {
      if (!isSeen) return
      if (link !== undefined) link.hasPicture = true
      const words = withoutFilling(alt ?? '').trim()
      if (!saysNothing.test(words)) addWordsApart(lines, words)
    },
    /** A part of a picture that leads somewhere. */
    area(href: string | undefined, alt: string | undefined) {
      const over = begin(href)
      if (over === undefined) return
      addWordsApart(lines, alt ?? '')
      over()
    },
  }
}

/**
 * Alternative texts without meaning: no letter, digit or symbol; only the kind of thing, or a file
 * name.
 */
const saysNothing =
  /^(?:[^\p{L}\p{N}\p{S}]*|(?:spacer|pixel|blank|divider|separator|line|shim|image|img|picture|photo)\.?|[^\s/]+\.(?:gif|png|jpe?g|svg|webp|bmp))$/iu

const tiny = /^\s*[0-3](?:\.\d*)?\s*(?:px)?\s*$/i
const tinyStyle = /(?:^|[;\s])(?:max-)?(?:width|height)\s*:\s*[0-3](?:\.\d*)?(?:px)?\s*(?:!|;|$)/i

/** Whether a picture of this size is visible. */
export function isSeen(
  width: string | undefined,
  height: string | undefined,
  style: string | undefined,
) {
  if (width !== undefined && tiny.test(width)) return false
  if (height !== undefined && tiny.test(height)) return false
  return style === undefined || !tinyStyle.test(style)
}
