import { makeCells } from './cells.js'
import type { Element } from './elements.js'
import { addApart, breakLine, endKept, endLine, type Lines, raise } from './lines.js'
import { isSeen, makeLinks } from './links.js'
import { makeLists } from './lists.js'
import { says } from './style.js'
import { attribute, sourceOf, type Tag } from './tag.js'
import { decodeValue } from './white-space.js'

const rule = '-'.repeat(40)

/** How visible elements shape the lines. */
export function makeStructure(lines: Lines) {
  const cells = makeCells(lines)
  const lists = makeLists(lines)
  const links = makeLinks(lines)
  let piecesAtRule = 0

  const value = (tag: Tag, name: keyof typeof attribute): string | undefined => {
    const source = sourceOf(tag, attribute[name])
    return source === undefined ? undefined : decodeValue(source)
  }

  return {
    restart() {
      for (const one of [cells, lists, links]) one.restart()
      piecesAtRule = 0
    },

    /** How an element is separated from its surroundings. */
    breaksOf({ name, breaks }: Element, said: number): number {
      if (breaks === 2 && isList.has(name) && lists.isInner()) return 1
      return breaks > 0 ? breaks : (said & says.block) === 0 || isInTable.has(name) ? 0 : 1
    },

    /** Begins an element; returns a function that ends it, if its end has an effect. */
    begin(tag: Tag, said: number): (() => void) | undefined {
      const { name } = tag.element
      const isMarked = (said & says.noMarker) === 0
      switch (name) {
        case 'a':
          return links.begin(sourceOf(tag, attribute.href))
        case 'td':
          return cells.cell()
        case 'tr':
        case 'table':
          return cells.row(name === 'table')
        case 'ul':
        case 'menu':
        case 'dir':
          return lists.bullets(isMarked)
        case 'ol':
          return lists.numbers(value(tag, 'start'), value(tag, 'type'), isMarked)
        case 'li':
          return isMarked ? lists.item(value(tag, 'value')) : undefined
        case 'dd':
          return lists.saying()
        case 'blockquote':
          return lists.quotation()
        case 'sup':
          // The cents of a price, or a note after a number: joined to the number they would change
          // it.
          raise(lines)
          return undefined
        case 'pre':
        case 'listing':
          return () => endKept(lines)
        default:
          return undefined
      }
    },

    /** An element without content. */
    leaf(tag: Tag, said: number): void {
      const { name } = tag.element
      if (name === 'br') endLine(lines)
      else if (name === 'area') {
        links.area(sourceOf(tag, attribute.href), value(tag, 'alt'))
      } else if (name === 'hr') {
        // One rule says as much as several with nothing between them.
        if (lines.at.pieces === piecesAtRule) return
        breakLine(lines, 1)
        addApart(lines, rule)
        breakLine(lines, 1)
        piecesAtRule = lines.at.pieces
      } else if (name === 'img') {
        const isBlock = (said & says.block) !== 0
        if (isBlock) breakLine(lines, 1)
        const isShown = isSeen(value(tag, 'width'), value(tag, 'height'), value(tag, 'style'))
        links.picture(value(tag, 'alt'), isShown)
        if (isBlock) breakLine(lines, 1)
      }
    },
  }
}

const isList: ReadonlySet<string> = new Set(['ul', 'ol', 'menu', 'dir'])
// The display of these elements begins no line.
const isInTable: ReadonlySet<string> = new Set(['td', 'tr', 'tbody', 'thead', 'tfoot', 'colgroup'])
