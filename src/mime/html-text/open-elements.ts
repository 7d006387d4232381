import { type Element, elementIds, idOf } from './elements.js'

/** An element whose end means something. */
export interface OpenElement {
  element: Element
  /** The element and its content are not shown. */
  hides: boolean
  /** How it is separated from the following text. */
  breaks: number
  end: (() => void) | undefined
  /** The white-space rule that holds again after it. */
  whiteSpace: number
  isTextless: boolean
}

interface Placed {
  one: OpenElement
  /** The places of the previous open element of its kind and of the previous special one. */
  outer: number
  outerSpecial: number
  isOver: boolean
}

/**
 * The open elements, so that an end tag ends what it would end in a browser. A step's time depends only on what it
 * ends, not on how many are open.
 */
export function makeOpenElements(end: (one: OpenElement) => void) {
  const open: Placed[] = []
  const last = new Int32Array(elementIds).fill(-1)
  let lastSpecial = -1

  const lastOf = (id: number) => last[id] as number
  /** An end tag has no effect outside of its cell (HTML §13.2.4.2, 'in scope'). */
  const scope = () => Math.max(lastOf(table), lastOf(cell), lastOf(caption))

  const endOne = (placed: Placed) => {
    if (placed.isOver) return
    placed.isOver = true
    last[placed.one.element.id] = placed.outer
    end(placed.one)
  }
  /** Ends the element at this place, and all open elements in it. */
  const endFrom = (place: number) => {
    for (
      let placed = open[open.length - 1];
      placed && open.length > place;
      placed = open[open.length - 1]
    ) {
      open.pop()
      if (placed.one.element.isSpecial) lastSpecial = placed.outerSpecial
      endOne(placed)
    }
  }
  const endLast = (id: number, within: number) => {
    if (lastOf(id) > within) endFrom(lastOf(id))
  }

  return {
    restart() {
      open.length = 0
      last.fill(-1)
      lastSpecial = -1
    },
    push(one: OpenElement) {
      const { id, isSpecial } = one.element
      const place = open.length
      open.push({ one, outer: lastOf(id), outerSpecial: lastSpecial, isOver: false })
      last[id] = place
      if (isSpecial) lastSpecial = place
    },
    endFrom,
    /** Whether an end tag could be meant for another element of this kind. */
    isOpen: ({ id }: Element): boolean => lastOf(id) >= 0,

    /** Ends what an end tag ends; false if no open element fits. */
    endTag({ id, isFormatting, isSpecial }: Element): boolean {
      const place = lastOf(id)
      const limit = id === table ? -1 : isOfTable.has(id) ? lastOf(table) : scope()
      if (place < 0 || place < limit) return false
      const placed = open[place]
      if (isFormatting && placed) endOne(placed)
      else if (isSpecial || lastSpecial <= place) endFrom(place)
      return true
    },

    /** Ends the elements that this element's beginning ends (HTML §13.1.2.4, §13.2.6.4). */
    endImplied({ id, endsParagraph }: Element) {
      if (endsParagraph) endLast(paragraph, scope())
      if (id === item) endLast(item, Math.max(scope(), ...lists.map(lastOf)))
      else if (id === term || id === saying) {
        endLast(term, Math.max(scope(), lastOf(terms)))
        endLast(saying, Math.max(scope(), lastOf(terms)))
      } else if (isOfTable.has(id)) {
        endLast(cell, lastOf(table))
        endLast(caption, lastOf(table))
        if (id !== cell) endLast(row, lastOf(table))
        if (isGroup.has(id)) for (const group of isGroup) endLast(group, lastOf(table))
      } else if (id === link && lastOf(link) > scope()) {
        const placed = open[lastOf(link)]
        if (placed) endOne(placed)
      }
    },
  }
}

const paragraph = idOf('p')
const item = idOf('li')
const lists = ['ul', 'ol', 'menu', 'dir'].map(idOf)
const [term, saying, terms] = [idOf('dt'), idOf('dd'), idOf('dl')]
const link = idOf('a')
const table = idOf('table')
const row = idOf('tr')
const cell = idOf('td')
const caption = idOf('caption')
const isGroup: ReadonlySet<number> = new Set(['tbody', 'thead', 'tfoot'].map(idOf))
const isOfTable: ReadonlySet<number> = new Set([row, cell, caption, ...isGroup])
