import { type Element, idOf } from './elements.js'
import { type Rules, readRules, ruled } from './rules.js'
import { says } from './style.js'
import { attribute, hasAttribute, sourceOf, type Tag } from './tag.js'

/** How white space is shown. */
export const flows = 0
export const keepsLines = 1
export const keepsSpaces = 2
export const keepsIndents = 3

/**
 * Which parts of a mail are visible, and how white space in them is shown, by styles, style sheets
 * and attributes.
 */
export function makeSeen() {
  let html = ''
  const rules: Rules = new Map()
  // Inside a part that is hidden only from Outlook.
  let isForOthers = false

  return {
    /** Begins another mail. */
    restart(source: string) {
      html = source
      rules.clear()
      isForOthers = false
      this.whiteSpace = flows
      this.isTextless = false
    },

    whiteSpace: flows,
    /** The text has no height, but pictures in it have. */
    isTextless: false,

    readSheet: (from: number, to: number) => readRules(html, from, to, rules),

    comment(at: number) {
      if (html.startsWith('[endif]', at + 3) || html.startsWith('<![endif]', at))
        isForOthers = false
      else if (html.startsWith('[if !mso', at + 4) || html.startsWith('[if !mso', at + 2))
        isForOthers = true
    },

    /** The bits of a tag's style, and of the rules for its classes. */
    styleOf(tag: Tag): number {
      const { said } = tag
      const { class: classes, id } = attribute
      if (rules.size === 0 || !(hasAttribute(tag, classes) || hasAttribute(tag, id))) return said
      const byRule = ruled(rules, sourceOf(tag, classes) ?? '', sourceOf(tag, id) ?? '')
      const isOverruled = (said & says.display) !== 0 && (byRule & says.important) === 0
      return said | (isOverruled ? byRule & ~says.none : byRule)
    },

    isHidden(tag: Tag, said: number): boolean {
      const { element } = tag
      if (element.id === template || hasAttribute(tag, attribute.hidden)) return true
      const skips = sourceOf(tag, attribute['data-skip-in-text'])
      if (skips !== undefined && skips !== 'false') return true
      if ((said & hiding) === 0) return false
      if ((said & (says.none | says.invisible)) !== 0) return true
      if ((said & says.clips) !== 0 && (said & says.noRoom) !== 0) return true
      // Outlook has its own copy of such a link or picture; all other programs show this one.
      const isTheirs = isForOthers || element.id === link || element.id === picture
      return (said & says.msoHide) !== 0 && !isTheirs
    },

    /** Applies an element's rules for white space. */
    enter({ id }: Element, said: number) {
      if ((said & says.noFont) !== 0 || (said & noLine) === noLine) this.isTextless = true
      else if ((said & says.font) !== 0) this.isTextless = false
      const isCode = id === pre || id === listing
      if ((said & says.spaces) !== 0) this.whiteSpace = keepsSpaces
      else if ((said & says.indents) !== 0) {
        // A program's lines are kept unchanged, even if a browser would break them.
        if (isCode) this.whiteSpace = keepsSpaces
        else if (this.whiteSpace !== keepsSpaces) this.whiteSpace = keepsIndents
      } else if ((said & says.lines) !== 0) this.whiteSpace = keepsLines
      else if ((said & says.flows) !== 0) this.whiteSpace = flows
      else if (isCode) this.whiteSpace = keepsSpaces
    },
  }
}

const template = idOf('template')
const link = idOf('a')
const picture = idOf('img')
const pre = idOf('pre')
const listing = idOf('listing')
const hiding = says.none | says.invisible | says.clips | says.msoHide
const noLine = says.noLine | says.clips
