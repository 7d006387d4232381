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

/** Links and pictures: what is not words, told in words. */
export function makeLinks(lines: Lines) {
  let link: { target: string; place: Place; hasPicture: boolean } | undefined
  let told = new Set<string>()
  // The link before, and how much of the text there was behind it.
  const nothing = { target: '', words: '', pieces: 0 }
  let before = nothing
  // Where the one before begins, if that is a picture which said nothing but its target.
  let wordless: Place | undefined

  const end = () => {
    if (link === undefined) return
    const { target, place, hasPicture } = link
    link = undefined
    wordless = undefined
    const words = heard(lines)
    if (words === before.words && target === before.target && place.pieces === before.pieces) {
      // A picture and its caption, each of them a link.
      lines.at = place
      return
    }
    if (words === '') {
      // A picture that says nothing: the link would be lost, unless it is there already.
      if (hasPicture && !told.has(target)) {
        addApart(lines, `[${target}]`)
        wordless = place
      }
    } else if (!isSameTarget(words, target)) addTarget(lines, `[${target}]`)
    else if (words !== target) replaceFrom(lines, place, target)
    if (words !== '' || hasPicture) told.add(target)
    before = { target, words, pieces: lines.at.pieces }
  }

  /** Takes a picture that says nothing back where the words behind it lead to the same place. */
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
    /** Begins a link; what it returns ends it. Undefined: it leads nowhere. */
    begin,
    /** A picture by its alternative text; `isSeen`: it is no pixel that counts or keeps a place. */
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

/** No letter, digit or symbol; a name of what it is, or of its file. */
const saysNothing =
  /^(?:[^\p{L}\p{N}\p{S}]*|(?:spacer|pixel|blank|divider|separator|line|shim|image|img|picture|photo)\.?|[^\s/]+\.(?:gif|png|jpe?g|svg|webp|bmp))$/iu

const tiny = /^\s*[0-3](?:\.\d*)?\s*(?:px)?\s*$/i
const tinyStyle = /(?:^|[;\s])(?:max-)?(?:width|height)\s*:\s*[0-3](?:\.\d*)?(?:px)?\s*(?:!|;|$)/i

/** Whether a picture of this size is one to be seen. */
export function isSeen(
  width: string | undefined,
  height: string | undefined,
  style: string | undefined,
) {
  if (width !== undefined && tiny.test(width)) return false
  if (height !== undefined && tiny.test(height)) return false
  return style === undefined || !tinyStyle.test(style)
}
