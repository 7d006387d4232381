// A list with more fields is none that somebody wrote by hand.
const mostFields = 50
const loop = /\{%-?\s*(?:for|tablerow)\s+([\w-]+)\s+in\s+([\w.-]+)/g
// Bounded, and begun at the beginning of a word alone: a picture in base64 is one word of 100,000 letters.
const fieldOfItem = /(?<![\w-])([\w-]{1,64})\.([\w-]{1,64})(?![\w-])/g

/**
 * Sample values for the variables of a template, until somebody says what they are: `user.name` is 'Name', and
 * what a loop goes through is a list with one item, which has the fields that the loop takes of it. The source is
 * read once, whatever number of variables is asked for.
 */
export function makeGuesses(source: string): (path: string) => string {
  const itemsOf = new Map<string, Set<string>>()
  const fieldsOf = new Map<string, Set<string>>()
  for (const [, item = '', list = ''] of source.matchAll(loop)) {
    add(itemsOf, list, item)
    fieldsOf.set(item, new Set())
  }
  for (const [, item = '', field = ''] of source.matchAll(fieldOfItem)) {
    if (fieldsOf.has(item)) add(fieldsOf, item, field)
  }
  return (path) => {
    const items = [...(itemsOf.get(path) ?? [])]
    if (items.length === 0) return inWords(path)
    const fields = new Set(items.flatMap((item) => [...(fieldsOf.get(item) ?? [])]))
    const sample = [...fields].slice(0, mostFields).map((field) => [field, inWords(field)])
    const [item = ''] = items
    return JSON.stringify([sample.length === 0 ? inWords(item) : Object.fromEntries(sample)])
  }
}

function add(all: Map<string, Set<string>>, key: string, value: string): void {
  const known = all.get(key) ?? new Set()
  if (known.size < mostFields) all.set(key, known.add(value))
}

/** The last part of a path, as a name. */
function inWords(path: string): string {
  const [last = ''] = path.split('.').slice(-1)
  const words = last.replace(/[-_]+/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
