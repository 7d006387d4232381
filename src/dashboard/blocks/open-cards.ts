import type { Form } from '../../http/index.js'
import { linkTo } from '../shell/listing.js'
import { documentIn, isAsAdded, type TypedBlock, type TypedDocument } from './form.js'
import { placed } from './places.js'

/*
 * Which cards of a page are open. A rule says it of cards that a page shows for the first time; after that the form says it, and
 * after a save the address, so that what somebody has opened stays open.
 */

// A page with more open ones would have too many bytes; the largest of the layouts has fewer.
const mostOpen = 16
// Of more, each shows its first words until somebody unfolds it: a page of all fields would be endless.
const mostUnfolded = 6

/** Whether there are so many cards that the page has fields of those alone at which somebody works. */
export const areMany = (count: number): boolean => count > mostOpen

/** Whether a card that nobody has folded or unfolded shows its fields. */
export const isUnfoldedByRule = (block: TypedBlock, count: number): boolean =>
  count <= mostUnfolded || isAsAdded(block)

/** How many blocks there are, those in columns counted. */
export const blockCount = (blocks: readonly TypedBlock[]): number => placed(blocks).length

// In an address, between places and in place of none.
const between = '-'
const none = 'none'

/** The page of cards at which a form was saved, as an address by which the same of them are open. */
export const pageWithOpen = (page: string, fields: Form): string =>
  linkTo(page, { open: openIn(fields) })

/** The cards that are open in a form, as an address says it; undefined: those that are open by the rule, or none are there. */
export function openIn(fields: Form): string | undefined {
  const document = documentIn(fields)
  if (document === undefined) return undefined
  const { blocks, open, unfolded } = document
  const all = placed(blocks)
  if (areMany(all.length)) return open
  const isOpen = (block: TypedBlock) => unfolded?.get(block) ?? isUnfoldedByRule(block, all.length)
  if (all.every(([, block]) => isOpen(block) === isUnfoldedByRule(block, all.length)))
    return undefined
  const places = all.flatMap(([place, block]) => (isOpen(block) ? [place] : []))
  return places.join(between) || none
}

/** The document of a page whose address says which of its cards are open. */
export function withOpen(document: TypedDocument, query: URLSearchParams): TypedDocument {
  const asked = query.get('open')
  if (asked === null) return document
  const all = placed(document.blocks)
  if (areMany(all.length)) return { ...document, open: asked }
  const places = new Set(asked.split(between))
  return { ...document, unfolded: new Map(all.map(([place, block]) => [block, places.has(place)])) }
}
