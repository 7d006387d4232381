import { faultyBlocks, type Renderer, type TemplateFault } from '../../templates/index.js'
import { finishedPart } from './finished.js'
import { fieldOf, type TypedDocument, tryDocument } from './form.js'

/** Faults of cards, by the names of the form's fields. */
export type CardFaults = Record<string, string>

/** What was found in the finished part of a document, beside the cards in which that was typed. */
export function besideTyped(
  typed: TypedDocument,
  found: readonly { field: string; says: string }[],
): CardFaults {
  const { places } = finishedPart(typed, undefined)
  return Object.fromEntries(
    found.flatMap(({ field, says }): [string, string][] => {
      const [first, at, ...more] = field.split('.')
      const place = first === 'blocks' ? places[Number(at)] : undefined
      return place === undefined ? [] : [[fieldOf(['blocks', String(place), ...more]), says]]
    }),
  )
}

/** The cards whose texts have a fault that was found in the HTML which is made of them; `says`: the first of them. */
export async function faultsOfCards(
  renderer: Renderer,
  accountId: string,
  typed: TypedDocument,
  fault: TemplateFault,
): Promise<{ says: string | undefined; beside: CardFaults }> {
  const document = tryDocument(finishedPart(typed, undefined).document)
  if (document === undefined) return { says: undefined, beside: {} }
  const found = await faultyBlocks(renderer, accountId, document, { fault, variables: null })
  return { says: found[0]?.says, beside: besideTyped(typed, found) }
}
