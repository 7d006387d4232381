import { contrastOf, leastContrast } from '../../accounts/index.js'
import { htmlParser } from '../../mime/index.js'

/** Words that are hard to read before what is behind them. */
export interface WeakWords {
  /** The first of them. */
  words: string
  contrast: number
}

/** What an element has of its own or from those around it; undefined: nobody can say, as with a picture behind it. */
interface Colours {
  front: string | undefined
  ground: string | undefined
  /** Its words are not there to be read. */
  isHidden: boolean
}

// Browsers' own, where a mail says nothing.
const usual: Colours = { front: '#000000', ground: '#ffffff', isHidden: false }

// A page tells of a few, and each costs a sum.
const mostPairs = 200
const mostWords = 40
// What a document nests deeper has no words that a reader comes to.
const mostDeep = 400

/**
 * The words of HTML that are hard to read, each pair of colours once: by what `style`, `color` and `bgcolor` say, as a style
 * sheet is what many mail programs take out.
 */
export function weakWordsOf(html: string): WeakWords[] {
  const found = new Map<string, WeakWords>()
  const around: Colours[] = [usual]
  const here = () => around.at(-1) ?? usual
  let depth = 0
  const parser = new (htmlParser().Parser)({
    onopentag(tag, attributes) {
      depth++
      if (depth <= mostDeep) around.push(coloursOf(tag, attributes, here()))
    },
    ontext(text) {
      const { front, ground, isHidden } = here()
      const words = text.replace(/\s+/g, ' ').trim()
      if (isHidden || words === '' || front === undefined || ground === undefined) return
      const place = `${front} ${ground}`
      if (found.has(place) || found.size >= mostPairs) return
      const cut = [...words].slice(0, mostWords).join('')
      found.set(place, { words: cut, contrast: contrastOf(front, ground) })
    },
    onclosetag() {
      if (depth <= mostDeep) around.pop()
      depth--
    },
  })
  parser.end(html)
  return [...found.values()].filter(({ contrast }) => contrast < leastContrast)
}

const unread = new Set(['style', 'script', 'title', 'head', 'template', 'noscript'])

function coloursOf(
  tag: string,
  { style = '', color, bgcolor, background, hidden }: Record<string, string>,
  around: Colours,
): Colours {
  const said = declared(style)
  const isHidden =
    around.isHidden ||
    unread.has(tag) ||
    hidden !== undefined ||
    /^none\b/.test(said.get('display') ?? '') ||
    /^hidden\b/.test(said.get('visibility') ?? '') ||
    /^all\b/.test(said.get('mso-hide') ?? '') ||
    /^0(?![.\d]*[1-9])/.test(said.get('opacity') ?? '') ||
    // What a mail hides for the line of an inbox is as small as it can be.
    /^[01](?:px|pt)?$/.test(said.get('font-size') ?? '')
  // A link that says no colour has that of the program that shows it.
  const inherited = tag === 'a' ? undefined : around.front
  const front = said.get('color') ?? (tag === 'font' ? color?.toLowerCase() : undefined)
  const behind = said.get('background') ?? ''
  const ground = said.get('background-color') ?? (behind || bgcolor?.toLowerCase())
  const hasPicture =
    background !== undefined || /url\(|gradient/.test(`${said.get('background-image')}${behind}`)
  return {
    front: front === undefined ? inherited : colourIn(front, around.front),
    ground: hasPicture ? undefined : ground ? colourIn(ground, around.ground) : around.ground,
    isHidden,
  }
}

/** What a `style` declares, the last of each. */
function declared(style: string): Map<string, string> {
  const said = new Map<string, string>()
  for (const one of style.slice(0, mostStyle).split(';')) {
    const at = one.indexOf(':')
    if (at > 0)
      said.set(
        one.slice(0, at).trim().toLowerCase(),
        one
          .slice(at + 1)
          .trim()
          .toLowerCase(),
      )
  }
  return said
}

const mostStyle = 4_000

/** A colour as `#rrggbb`; undefined where it is another way to say one, or is seen through. */
function colourIn(given: string, around: string | undefined): string | undefined {
  const value = given.replace(/!important/, '').trim()
  if (value === 'inherit' || value === 'transparent' || value === 'none') return around
  const [, long] = /^#([\da-f]{6})$/.exec(value) ?? []
  if (long !== undefined) return `#${long}`
  const [, r, g, b] = /^#([\da-f])([\da-f])([\da-f])$/.exec(value) ?? []
  if (r !== undefined) return `#${r}${r}${g}${g}${b}${b}`
  const [, ...parts] = /^rgb\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*\)$/.exec(value) ?? []
  if (parts.length === 3) {
    return `#${parts.map((part) => Math.min(255, Number(part)).toString(16).padStart(2, '0')).join('')}`
  }
  return named[value]
}

// HTML 4's, and what else mails are written with.
const named: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  black: '#000000',
  silver: '#c0c0c0',
  gray: '#808080',
  grey: '#808080',
  white: '#ffffff',
  maroon: '#800000',
  red: '#ff0000',
  purple: '#800080',
  fuchsia: '#ff00ff',
  green: '#008000',
  lime: '#00ff00',
  olive: '#808000',
  yellow: '#ffff00',
  navy: '#000080',
  blue: '#0000ff',
  teal: '#008080',
  aqua: '#00ffff',
  orange: '#ffa500',
  gold: '#ffd700',
  pink: '#ffc0cb',
  tomato: '#ff6347',
  darkgray: '#a9a9a9',
  darkgrey: '#a9a9a9',
  lightgray: '#d3d3d3',
  lightgrey: '#d3d3d3',
  whitesmoke: '#f5f5f5',
  dimgray: '#696969',
  dimgrey: '#696969',
  darkblue: '#00008b',
  lightblue: '#add8e6',
  skyblue: '#87ceeb',
})
