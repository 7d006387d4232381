import { htmlParser } from '../../mime/index.js'

/**
 * Which features of HTML and CSS a mail uses, and how often, by the names of caniemail.com: `css-border-radius`,
 * `html-video`, `image-webp`. Some of the names may be unknown to every table.
 */
export function usedFeatures(html: string): Map<string, number> {
  const used = new Map<string, number>()
  const use = (name: string) => used.set(name, (used.get(name) ?? 0) + 1)
  let styles = ''
  let inStyle = false
  const parser = new (htmlParser().Parser)({
    onopentag(tag, attributes) {
      inStyle = tag === 'style'
      for (const name of [...tagFeatures(tag, attributes), ...attributeFeatures(attributes)]) {
        use(name)
      }
      const { style } = attributes
      if (style === undefined) return
      for (const piece of cssPieces(style)) for (const name of cssFeatures(piece)) use(name)
    },
    ontext(text) {
      if (inStyle && styles.length < maxStyleChars) styles += text
    },
    onclosetag() {
      inStyle = false
    },
  })
  parser.end(html)
  for (const piece of cssPieces(styles)) for (const name of cssFeatures(piece)) use(name)
  return used
}

// Gmail itself reads 16 kB of it (github.com/hteumeuleu/email-bugs, issue 90); this only bounds the
// work.
const maxStyleChars = 200_000

// caniemail.com has one page for all of these.
const semantics =
  /^(article|aside|details|figcaption|figure|footer|header|main|mark|nav|section|summary|time)$/
// Tags that caniemail.com calls something else, or has together with others.
const sameTag: Record<string, string> = {
  ul: 'lists',
  ol: 'lists',
  dl: 'lists',
  embed: 'object',
  map: 'image-maps',
  area: 'image-maps',
  s: 'strike',
}

/** The features that a tag stands for. */
function tagFeatures(tag: string, attributes: Record<string, string>): string[] {
  const { type = '', src = '', name = '', href = '' } = attributes
  if (semantics.test(tag)) return ['html-semantics']
  switch (tag) {
    case 'input':
      return [`html-input-${(type || 'text').toLowerCase()}`]
    case 'button':
      return [`html-button-${(type || 'submit').toLowerCase()}`]
    case 'meta':
      return /^(supported-)?color-schemes?$/i.test(name) ? ['html-meta-color-scheme'] : []
    case 'a':
      return href.startsWith('#') && href.length > 1 ? ['html-anchor-links'] : []
    case 'img':
      return [imageFeature(src)]
    default:
      return [`html-${sameTag[tag] ?? tag}`]
  }
}

const sameImage: Record<string, string> = { jpeg: 'jpg', tif: 'tiff', heic: 'heif' }

/**
 * The picture's type, by the end of its address. Many addresses have no such end, and then nothing
 * is known.
 */
function imageFeature(src: string): string {
  if (/^\s*data:/i.test(src)) return 'image-base64'
  const [, extension = ''] = /\.(\w{2,5})(?:[?#]|$)/.exec(src.slice(-200)) ?? []
  const type = extension.toLowerCase()
  return `image-${sameImage[type] ?? type}`
}

// Attributes that have a page at caniemail.com, by its name.
const attributeNames: Record<string, string> = {
  align: 'html-align',
  background: 'html-background',
  dir: 'html-dir',
  width: 'html-width',
  height: 'html-height',
  hidden: 'html-hidden',
  lang: 'html-lang',
  role: 'html-role',
  loading: 'html-loading-attribute',
  popover: 'html-popover',
  srcset: 'html-srcset',
  target: 'html-target',
  required: 'html-required',
  inert: 'css-inert-attribute',
  usemap: 'html-image-maps',
}

const attributeFeatures = (attributes: Record<string, string>) =>
  Object.keys(attributes).flatMap((name) =>
    name.startsWith('aria-') ? [`html-${name}`] : (attributeNames[name] ?? []),
  )

/** The features that a piece of CSS stands for. */
function cssFeatures({ kind, text }: CssPiece): string[] {
  if (kind === 'at') return atFeatures(text)
  if (kind === 'selector') return selectorFeatures(text)
  const colon = text.indexOf(':')
  const property = text.slice(0, colon).trim().toLowerCase()
  const value = text
    .slice(colon + 1)
    .trim()
    .toLowerCase()
    .slice(0, 2_000)
  // A custom property; its value may be anything.
  if (property.startsWith('--')) return ['css-variables']
  return [propertyFeature(property.replace(/^-(webkit|moz|ms)-/, ''), value), ...inValue(value)]
}

/** An at-rule and, for `@media`, what it asks for. */
function atFeatures(text: string): string[] {
  const [, name = ''] = /^@(?:-\w+-)?([a-z-]+)/i.exec(text) ?? []
  const rule = `css-at-${name.toLowerCase()}`
  const asked = ['prefers-color-scheme', 'prefers-reduced-motion', 'hover', 'orientation']
  if (rule !== 'css-at-media') return [rule]
  return [
    rule,
    ...asked.filter((one) => text.includes(`${one}:`)).map((one) => `css-at-media-${one}`),
    ...(text.includes('device-pixel-ratio') ? ['css-at-media-device-pixel-ratio'] : []),
  ]
}

function selectorFeatures(whole: string): string[] {
  // Bounds the work of the patterns below on a selector without an end.
  const text = whole.slice(0, 1_000)
  const pseudo = [...text.matchAll(/(::?)([a-z-]+)/gi)].map(([, , name = '']) => name.toLowerCase())
  const element = /^(after|before|first-letter|first-line|marker|placeholder)$/
  return [
    ...pseudo.map((name) => `css-pseudo-${element.test(name) ? 'element' : 'class'}-${name}`),
    ...(text.includes('[') ? ['css-selector-attribute'] : []),
    ...(/[^\s,>]\s*>/.test(text) ? ['css-selector-child'] : []),
    // `[class~="x"]` and `:nth-child(2n+1)` have these characters too.
    ...(text.includes('~') && !text.includes('[') ? ['css-selector-general-sibling'] : []),
    ...(text.includes('+') && !text.includes('(') ? ['css-selector-adjacent-sibling'] : []),
    ...(/(^|[\s,>])\*/.test(text) ? ['css-selector-universal'] : []),
  ]
}

// A longhand counts as its shorthand where caniemail.com has one page for both.
const sameProperty: [RegExp, string][] = [
  [/^(margin|padding)-(top|right|bottom|left)$/, 'css-$1'],
  [/^(margin|padding)-(inline|block)$/, 'css-$1-inline-block'],
  [/^(margin|padding)-(inline|block)-(start|end)$/, 'css-$1-$2-start-end'],
  [/^border-(top|bottom)-(left|right)-radius$/, 'css-border-radius'],
  [/^border-(start|end)-(start|end)-radius$/, 'css-border-radius-logical'],
  [
    /^border-(top|right|bottom|left)(-(width|style|color))?$|^border-(width|style|color)$/,
    'css-border',
  ],
  [/^border-image-.*$/, 'css-border-image'],
  [/^(top|right|bottom|left)$/, 'css-left-right-top-bottom'],
  [/^(row|column)-gap$/, 'css-gap'],
  [/^grid-template(-.*)?$|^grid$/, 'css-grid-template'],
  [/^(animation|transition|transform|mask-image|scroll-snap)-.*$/, 'css-$1'],
  [/^overflow-[xy]$/, 'css-overflow'],
  [/^(columns|column-width)$/, 'css-column-count'],
  [/^flex-flow$/, 'css-flex-wrap'],
]

function propertyFeature(property: string, value: string): string {
  if (property === 'display') {
    const [, what] = /^(?:inline-)?(flex|grid|none)\b/.exec(value) ?? []
    return what === undefined ? 'css-display' : `css-display-${what}`
  }
  for (const [pattern, name] of sameProperty) {
    if (pattern.test(property)) return property.replace(pattern, name)
  }
  return `css-${property}`
}

// Functions that have a page of their own.
const functions: Record<string, string> = {
  calc: 'css-unit-calc',
  clamp: 'css-function-clamp',
  min: 'css-function-min',
  max: 'css-function-max',
  'light-dark': 'css-function-light-dark',
  var: 'css-variables',
  'linear-gradient': 'css-linear-gradient',
  'radial-gradient': 'css-radial-gradient',
  'conic-gradient': 'css-conic-gradient',
  rgb: 'css-rgb',
  rgba: 'css-rgba',
  lab: 'css-modern-color',
  lch: 'css-modern-color',
  oklch: 'css-modern-color',
  oklab: 'css-modern-color',
  color: 'css-modern-color',
  'color-mix': 'css-modern-color',
}

function inValue(value: string): string[] {
  const called = [...value.matchAll(/([a-z-]+)\(/g)].flatMap(
    ([, name = '']) => functions[name] ?? [],
  )
  const units = [...value.matchAll(/\d(rem|vh|vw|vmin|vmax|ch)\b/g)].map(
    ([, unit]) => `css-unit-${unit}`,
  )
  const words = [
    ...(value.includes('!important') ? ['css-important'] : []),
    ...(value === 'initial' ? ['css-unit-initial'] : []),
  ]
  // Counted once for each declaration, however often it occurs there.
  return [...new Set([...called, ...units, ...words])]
}

/** The text before a brace, or between two semicolons. */
interface CssPiece {
  kind: 'at' | 'selector' | 'declaration'
  text: string
}

/**
 * Splits a style sheet, or the inside of a `style` attribute, in one pass, as CSS Syntax 3 §3.3 would: without
 * comments, with whole strings and brackets. Nothing in it is an error: mails have all kinds of CSS.
 */
function* cssPieces(css: string): Generator<CssPiece> {
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

// Strings may be whole pictures as data.
const maxStringChars = 200

/** Where a mark comes next; the end of the text where it does not. */
function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from)
  return end === -1 ? text.length : end
}
