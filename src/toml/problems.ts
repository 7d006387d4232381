import { OperatorError } from '../errors/index.js'
import { nearestOf } from './nearest.js'
import { lineOf, type TomlPath } from './place.js'
import { isTable, parseToml, readText, type Table } from './read.js'

/** An operator's file that is being read: its content, and all problems found in it. */
export interface OperatorFile {
  /** The file's name in messages. */
  readonly file: string
  readonly content: Table
  /** Whether nothing is wrong so far. */
  readonly isGood: () => boolean
  /** Notes a problem at a path of the file; an empty one has no line. Returns undefined, as the value that could not be read. */
  problem(path: TomlPath, says: string): undefined
  /** Throws one OperatorError that tells all problems; `what` begins it: 'Bad plans'. */
  refuseBad(what: string): void
}

/** Part of a file: its path, and what it is called in messages, `[providers.google]` or `plan "Free"`. */
export interface TomlPlace {
  readonly file: OperatorFile
  readonly path: TomlPath
  readonly says: string
}

/** Reads a file, or a text that is to become one; `what` names it where it cannot be read: 'the plans'. */
export function openFile(file: string, what: string, given?: string): OperatorFile {
  const text = given ?? readText(file, what)
  const problems: string[] = []
  return {
    file,
    content: parseToml(text, file),
    isGood: () => problems.length === 0,
    problem(path, says) {
      const line = path.length === 0 ? undefined : lineOf(text, path)
      problems.push(line === undefined ? says : `${says} (line ${line})`)
      return undefined
    },
    refuseBad(bad) {
      if (problems.length === 0) return
      throw new OperatorError(`${bad} (${file}):\n  ${problems.join('\n  ')}`)
    },
  }
}

/** What is read where there is no file: nothing. `where` stands for its name. */
export const noFile = (where: string): OperatorFile => openFile(where, where, '')

/** The whole of a file; its tables are named by `[…]`. */
export const wholeFile = (file: OperatorFile, says = ''): TomlPlace => ({ file, path: [], says })

/** The value of a key is not what was expected. `given`: shown in place of a value that must not be shown. */
export const wrongValue = (
  { file, path, says }: TomlPlace,
  key: string,
  value: unknown,
  expected: string,
  given = quoted(value),
): undefined =>
  file.problem([...path, key], `${beginning(says)}${key}: ${given} given, expected ${expected}`)

/** Each unknown key is a problem, because a misspelt one would have no effect. `kind`: the word for such a key. */
export function refuseOthers(
  { file, path, says }: TomlPlace,
  given: Table,
  known: readonly string[],
  kind = 'key',
): void {
  const above = path.filter((part) => typeof part === 'string')
  for (const [key, value] of Object.entries(given)) {
    if (known.includes(key)) continue
    const [begin, end] = bracketsOf(value)
    const isKey = begin === ''
    // A table is called by its whole name, as it is written, and so is a setting.
    const named = (name: string) =>
      isKey && says !== '' ? name : `${begin}${[...above, name].join('.')}${end}`
    const near = nearestOf(key, known)
    const meant = near === undefined ? '' : `; is ${named(near)} meant?`
    const what = isKey ? kind : 'table'
    const list = `${meant} known${says === '' ? ' here' : ''}: ${known.join(', ')}`
    const begins = isKey ? beginning(says) : ''
    file.problem(
      [...path, key],
      `${begins}${named(key)}: no such ${what}${meant === '' ? ';' : ''}${list}`,
    )
  }
}

/** A table's name is in single brackets, that of a list's table in double ones. */
function bracketsOf(value: unknown): [string, string] {
  if (isTable(value)) return ['[', ']']
  return Array.isArray(value) && value.some(isTable) ? ['[[', ']]'] : ['', '']
}

const beginning = (says: string) => (says === '' ? '' : `${says}: `)

/** The fields of what should be a table. */
export function tableAt({ file, path, says }: TomlPlace, given: unknown): Table {
  if (given === undefined) return {}
  if (isTable(given)) return { ...given }
  file.problem(path, `${says}: ${quoted(given)} given, expected a table`)
  return {}
}

/** The tables of a list, `[[loops]]`; each is called by its `name`, or by its number. */
export function namedTables(
  file: OperatorFile,
  list: string,
): { given: Table; place: TomlPlace }[] {
  const tables = file.content[list] ?? []
  if (!Array.isArray(tables)) {
    file.problem([list], `${list}: expected tables [[${list}]]`)
    return []
  }
  return tables.map((table: unknown, index) => {
    const given: Table = isTable(table) ? table : {}
    const name = typeof given.name === 'string' ? quoted(given.name) : index + 1
    return { given, place: { file, path: [list, index], says: `[[${list}]] ${name}` } }
  })
}

const longest = 80

/** A value in the form of messages: a long one is cut between two words. */
export function quoted(value: unknown): string {
  const text = (JSON.stringify(value) ?? 'nothing').toWellFormed()
  if (text.length <= longest) return text
  const cut = text.slice(0, longest - 2)
  const words = cut.replace(/[^\s,]*$/, '')
  return `${(words.length > longest / 2 ? words : cut).trimEnd()} …`
}
