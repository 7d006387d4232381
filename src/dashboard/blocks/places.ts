/*
 * Where blocks stand in a document: `3`, or in a column of the block there `3.0.1`. The top of a column without a block is
 * `3.0.`, that of all `` or `-1`.
 */

/** A block: its columns, where it has some, have blocks too. */
type Placed = Readonly<Record<string, unknown>>

/** A place as numbers; -1 for a top. */
export const placeIn = (word: string): readonly number[] =>
  word.split('.').map((part) => (part === '' ? -1 : Number(part)))

/** Whether a word that somebody sent is the place of a block. */
export const isPlace = (word: string): boolean => /^\d{1,3}(?:\.\d\.\d{1,3})?$/.test(word)

/** `3.0.` of `3.0.1`: the list in which a place is. */
export const listOf = (place: string): string => place.replace(/\d+$/, '')

/** 1 of `3.0.1`: which of its list it is. */
export const numberAt = (place: string): number => Number(place.slice(listOf(place).length))

/** The list in which a place is. */
export function listAt<B extends Placed>(blocks: B[], place: readonly number[]): B[] | undefined {
  if (place.length < 2) return blocks
  const [at = -1, column = -1] = place
  return (blocks[at]?.columns as B[][] | undefined)?.[column]
}

/** All blocks, each with its place. */
export const placed = <B extends Placed>(
  blocks: readonly B[],
  list = '',
): [place: string, block: B][] =>
  blocks.flatMap((block, index) => {
    const place = `${list}${index}`
    const columns = (block.columns as B[][] | undefined) ?? []
    const within = columns.flatMap((own, column) => placed(own, `${place}.${column}.`))
    return [[place, block] as [string, B], ...within]
  })

/**
 * Tells where a place is once the blocks have changed: before the block that stands there now, or at the end of its list.
 * Undefined: the columns in which it was are gone.
 */
export function followed<B extends Placed>(blocks: B[], place: string): () => string | undefined {
  const [first = -1, column] = placeIn(place)
  const [home, list] = [blocks[first], listAt(blocks, placeIn(place))]
  const next = list?.[numberAt(place)]
  return () => {
    if (list === undefined) return undefined
    const now = next !== undefined && list.includes(next) ? list.indexOf(next) : list.length
    if (column === undefined) return `${now}`
    return home !== undefined && blocks.includes(home)
      ? `${blocks.indexOf(home)}.${column}.${now}`
      : undefined
  }
}
