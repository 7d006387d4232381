/** Where a value is in a file: the names of its tables, the number of a table among several, and its key. */
export type TomlPath = readonly (string | number)[]

/**
 * The line, from 1, that a value of a file begins in, or the last table above it that has a line; undefined where
 * nothing of it is written. The file must be valid. It is for messages only: inside a text of several lines, a line
 * that looks like a key may be taken for one.
 */
export function lineOf(text: string, path: TomlPath): number | undefined {
  const seen = new Map<string, number>()
  let table: TomlPath = []
  let best: { line: number; depth: number } | undefined
  for (const [at, line] of text.split('\n').entries()) {
    const header = /^\s*(\[\[?)([^\]]+)\]/.exec(line)
    const key = header === null ? /^\s*([^=#[\]]+?)\s*=/.exec(line) : null
    if (header !== null) table = tableOf(header[2] ?? '', header[1] === '[[', seen)
    else if (key === null) continue
    const here = key === null ? table : [...table, ...namesIn(key[1] ?? '')]
    // A table below it, or one of its list, also begins it.
    const depth = Math.min(here.length, path.length)
    if (!here.slice(0, depth).every((name, i) => name === path[i])) continue
    if (best === undefined || depth > best.depth) best = { line: at + 1, depth }
  }
  return best?.line
}

/**
 * The path of a header: a table of a list has its number in the path, and so has everything below the last table of a
 * list.
 */
function tableOf(name: string, isOfList: boolean, seen: Map<string, number>): TomlPath {
  const path: (string | number)[] = []
  for (const [at, part] of namesIn(name).entries()) {
    path.push(part)
    const key = JSON.stringify(path)
    const isLast = at === namesIn(name).length - 1
    if (isOfList && isLast) seen.set(key, (seen.get(key) ?? -1) + 1)
    const number = seen.get(key)
    if (number !== undefined) path.push(number)
  }
  return path
}

/** `a."b.c"` is two names. */
const namesIn = (dotted: string): string[] =>
  [...dotted.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s.'"]+)/g)].map(
    ([, basic, literal, bare]) => basic ?? literal ?? bare ?? '',
  )
