/** A value that is filled in, by the path of its name, with the default for an empty value. */
export interface MergeTag {
  path: readonly string[]
  fallback: string
  /** It has no `default`: a template is not rendered without it. */
  required: boolean
}

/** Text and merge tags in turn, in the order of the source. */
export type MergePiece = string | MergeTag

const tag =
  /\{\{\s*([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)\s*(?:\|\s*default\s*:\s*(?:"([^"{}\\]*)"|'([^'{}\\]*)')\s*)?\}\}/g
/** Words that have a meaning of their own in Liquid. */
export const liquidWords = [
  'true',
  'false',
  'nil',
  'null',
  'empty',
  'blank',
  'forloop',
  'tablerowloop',
]
const reserved = new RegExp(`^(${liquidWords.join('|')})$|\\.(size|first|last)(\\.|$)`)

/**
 * The pieces of a text whose only Liquid is `{{ name }}` and `{{ name | default: "there" }}`, as in most campaigns;
 * undefined for any other text, which needs the engine. The pieces give the same result as the engine
 * (test/templates/merge-tags.test.ts), at a hundredth of its cost.
 */
export function mergePieces(liquid: string): MergePiece[] | undefined {
  const pieces: MergePiece[] = []
  let end = 0
  for (const match of liquid.matchAll(tag)) {
    const [whole, name = '', double, single] = match
    if (reserved.test(name)) return undefined
    pieces.push(liquid.slice(end, match.index), {
      path: name.split('.'),
      fallback: double ?? single ?? '',
      required: (double ?? single) === undefined,
    })
    end = match.index + whole.length
  }
  pieces.push(liquid.slice(end))
  const others = pieces.some((piece) => typeof piece === 'string' && /\{[{%]/.test(piece))
  return others ? undefined : pieces
}

/** The value of a tag; undefined for a value that only the engine can print. */
export function mergedValue(
  { path, fallback }: Pick<MergeTag, 'path' | 'fallback'>,
  values: object,
): string | undefined {
  let value: unknown = values
  for (const name of path) {
    if (typeof value !== 'object' || value === null) value = undefined
    else value = Object.hasOwn(value, name) ? value[name as keyof typeof value] : undefined
  }
  if (value === undefined || value === null || value === '' || value === false) {
    return value === false && fallback === '' ? 'false' : fallback
  }
  if (typeof value === 'object') return undefined
  return String(value)
}

/** The text with its tags filled in; undefined when one of them needs the engine. */
export function mergeInto(
  pieces: readonly MergePiece[],
  values: object,
  print: (value: string) => string = (value) => value,
): string | undefined {
  let merged = ''
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      merged += piece
      continue
    }
    const value = mergedValue(piece, values)
    if (value === undefined) return undefined
    merged += print(value)
  }
  return merged
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
}

/** Escapes as the engine does in HTML. */
export const escapeMerged = (value: string) =>
  value.replace(/[&<>"']/g, (char) => entities[char] ?? char)

/** What is merged into a contact's mail. */
export interface MergedContact {
  email: string
  firstName: string | null
  lastName: string | null
  /** JSON. */
  metadata: string | null
}

/** Somebody about whom nothing is known. */
export const stranger: MergedContact = {
  email: 'someone@example.org',
  firstName: null,
  lastName: null,
  metadata: null,
}

/**
 * The values of merge tags by name: those of the contact, and its metadata. Each field of the metadata is always
 * under `metadata`, and also by itself where nothing else has its name.
 */
export function mergeValues({ metadata, ...names }: MergedContact) {
  const own: Record<string, unknown> = metadata === null ? {} : JSON.parse(metadata)
  return namedValues(names, own)
}

/** Like `mergeValues`, for metadata that was already parsed. */
export function namedValues<T>(
  { email, firstName, lastName }: Omit<MergedContact, 'metadata'>,
  own: Readonly<Record<string, T>>,
) {
  // The literal begins with its own names: V8 makes a hidden class for each new field after a spread
  // (CONTRIBUTING.md).
  const values = { email, firstName, lastName, metadata: own, ...own }
  return Object.assign(values, { email, firstName, lastName, metadata: own })
}
