import { readStyle, says } from './style.js'

/** The style sheets' rules for classes and ids, in bits of `says`, by `.class` and `#id`. */
export type Rules = Map<string, number>

const heeded = says.none | says.display | says.invisible | says.msoHide
// Further rules of a mail are not read.
const mostRules = 2_000

/**
 * Adds what a style sheet hides by a class or an id. Rules for a narrow window, for dark mode or for print are left
 * out, as the text is that of a wide window.
 */
export function readRules(html: string, from: number, to: number, rules: Rules): void {
  const source = html.slice(from, to)
  const css = source.includes('/*') ? source.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, '') : source
  const semicolons = { source: css, next: -1 }
  const telling = new RegExp(tells, 'gi')
  let told = -1
  let at = 0
  for (let left = mostRules; left > 0; left--) {
    const open = css.indexOf('{', at)
    if (open === -1) return
    const prelude = behindStatements(css, at)
    if (css.charCodeAt(prelude) === atSign) {
      // After entering a block, its closing brace comes before the next selector.
      at = isWide(css.slice(prelude, open)) ? open + 1 : endOfBlock(css, open)
      continue
    }
    const close = css.indexOf('}', open)
    const end = close === -1 ? css.length : close
    if (told < open) {
      telling.lastIndex = open
      told = telling.exec(css)?.index ?? css.length
      if (told === css.length) return
    }
    if (told < end) {
      note(rules, css.slice(prelude, open), readStyle(semicolons, open + 1, end))
    }
    at = end + 1
  }
}

// Each rule that hides has one of these properties.
const tells = 'display|visibility|opacity|overflow|mso-hide'
const atSign = 0x40

/** Where the selectors, or an at-rule with a block, begin. */
function behindStatements(css: string, from: number): number {
  const statements = /(?:[\s}]|@(?:import|charset|namespace)[^;{]*;)*/iy
  statements.lastIndex = from
  statements.exec(css)
  return Math.max(from, statements.lastIndex)
}

const isWide = (prelude: string): boolean =>
  /^@media\b/i.test(prelude) &&
  /min-width/i.test(prelude) &&
  !/max-|dark|print|\bor\b|,/i.test(prelude)

/** Where a block ends, which may contain blocks. */
function endOfBlock(css: string, open: number): number {
  let depth = 1
  let opened = css.indexOf('{', open + 1)
  for (let at = css.indexOf('}', open); at !== -1; at = css.indexOf('}', at + 1)) {
    for (; opened !== -1 && opened < at; opened = css.indexOf('{', opened + 1)) depth++
    if (--depth === 0) return at + 1
  }
  return css.length
}

/** Only selectors of one class or one id count, with or without an element before it. */
function note(rules: Rules, selectors: string, said: number): void {
  const shuts = (said & says.clips) !== 0 && (said & says.noRoom) !== 0
  if ((said & heeded) === 0 && !shuts) return
  for (const selector of selectors.split(',')) {
    const name = /^\s*[a-z0-9]*([.#][\w-]+)\s*$/i.exec(selector)?.[1]
    if (name !== undefined) rules.set(name, withRule(rules.get(name) ?? 0, said))
  }
}

/** A later rule wins, unless only the earlier one is important. */
function withRule(before: number, said: number): number {
  const display = says.none | says.display | says.important
  if ((said & display) === 0) return before | said
  if ((before & says.important) !== 0 && (said & says.important) === 0)
    return before | (said & ~display)
  return (before & ~display) | said
}

/** The rules for an element with these classes and this id. */
export function ruled(rules: Rules, classes: string, id: string): number {
  let said = id === '' ? 0 : (rules.get(`#${id}`) ?? 0)
  if (!/\s/.test(classes)) return said | (rules.get(`.${classes}`) ?? 0)
  for (const name of classes.split(/\s+/)) said |= rules.get(`.${name}`) ?? 0
  return said
}
