import { makeNames } from './names.js'

/** What an element means for the text; one object for all elements of a name. */
export interface Element {
  /** Elements with the same meaning share an id; 0 is unknown. */
  id: number
  name: string
  /** How it is separated from its surroundings: 1 by a line end, 2 by an empty line. */
  breaks: number
  /** It has no content and no end tag. */
  isVoid: boolean
  /** Its content is text that no reader sees. */
  isRaw: boolean
  /** An end tag of an outer element has no effect inside it (HTML §13.2.4.2). */
  isSpecial: boolean
  /** Its end tag ends only it, and not the elements that began in it (HTML §13.2.6.4.7). */
  isFormatting: boolean
  /** It ends an open paragraph. */
  endsParagraph: boolean
}

const known: Record<string, Element> = {}
let ids = 1

function add(names: string, traits: Partial<Element>): void {
  const { breaks = 0, isVoid = false, isRaw = false, isFormatting = false } = traits
  const { isSpecial = breaks > 0 || isVoid || isRaw, endsParagraph = breaks > 0 } = traits
  for (const name of names.split(' ')) {
    const id = ids++
    known[name] = { id, name, breaks, isVoid, isRaw, isSpecial, isFormatting, endsParagraph }
  }
}

add('p h1 h2 h3 h4 h5 h6 ul ol dl menu dir blockquote pre figure', { breaks: 2 })
add('div center address article aside details dialog fieldset figcaption footer form header', {
  breaks: 1,
})
add('hgroup main nav search section summary legend listing optgroup li dt dd', { breaks: 1 })
add('table caption', { breaks: 1 })
add('tr td thead tbody tfoot colgroup', { isSpecial: true })
add('option', { breaks: 1, endsParagraph: false })
add('a b big code em font i nobr s small strike strong tt u', { isFormatting: true })
add('area base br col embed img input link meta source track wbr param', { isVoid: true })
add('hr', { isVoid: true, endsParagraph: true })
add('script style title textarea iframe noembed noframes', { isRaw: true })
add('template head body html object marquee applet button select', { isSpecial: true })
add('span sup', {})
known.th = known.td as Element
// Browsers treat `image` as `img`.
known.image = known.img as Element

export const elementAt = makeNames(known)
export const unknownElement: Element = {
  id: 0,
  name: '',
  breaks: 0,
  isVoid: false,
  isRaw: false,
  isSpecial: false,
  isFormatting: false,
  endsParagraph: false,
}
/** One more than the highest id. */
export const elementIds = ids

/** The id of a known element. */
export const idOf = (name: string): number => (known[name] as Element).id
