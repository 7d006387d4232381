import { domainToASCII } from 'node:url'
import { settingName } from '../../config/index.js'
import { OperatorError } from '../../errors/index.js'
import {
  type OperatorFile,
  openFile,
  quoted,
  refuseOthers,
  type TomlPlace,
  tableAt,
  wholeFile,
  wrongValue,
} from '../../toml/index.js'
import { limitNames } from './limits.js'
import { isHostName, isProviderName, readTable, type ShapingTable } from './table.js'

/** Both files, checked. In each list of tables the last one that has a value counts. */
export interface ShapingData {
  readonly files: readonly string[]
  readonly byDefault: readonly ShapingTable[]
  readonly providers: ReadonlyMap<string, readonly ShapingTable[]>
  /** The operator's tables, by MX suffix. */
  readonly mx: ReadonlyMap<string, readonly ShapingTable[]>
  /** The operator's tables, by recipient domain. */
  readonly domains: ReadonlyMap<string, readonly ShapingTable[]>
  /** MX suffix → provider. */
  readonly providerOf: ReadonlyMap<string, string>
}

/** The last table of a provider that has the key. */
export function lastOf<K extends 'mx' | 'like' | 'perHost'>(
  tables: readonly ShapingTable[] | undefined,
  key: K,
): ShapingTable[K] {
  return tables?.findLast((table) => table[key] !== undefined)?.[key]
}

/**
 * Reads and checks the shaping file that comes with Posthorn and, over it, those of the operator;
 * throws one OperatorError that lists every problem of the first bad file.
 */
export function loadShaping(files: readonly string[]): ShapingData {
  const byDefault: ShapingTable[] = []
  const kinds = {
    providers: new Map<string, ShapingTable[]>(),
    mx: new Map<string, ShapingTable[]>(),
    domains: new Map<string, ShapingTable[]>(),
  }
  let providerOf: ReadonlyMap<string, string> = new Map()
  for (const file of files) {
    const opened = openFile(file, 'the shaping')
    const { content } = opened
    byDefault.push(readTable(content.default, at(opened, 'default')))
    for (const [kind, tables] of Object.entries(kinds)) {
      const whole = { file: opened, path: [kind], says: `[${kind}]` }
      for (const [name, given] of Object.entries(tableAt(whole, content[kind]))) {
        const table = readTable(given, at(opened, kind, name))
        const key = checkedName(whole, name)
        tables.set(key, [...(tables.get(key) ?? []), table])
      }
    }
    refuseOthers(wholeFile(opened), content, ['default', ...Object.keys(kinds)])
    // These checks compare tables with each other, so each table must be right by itself first. They run after each
    // file, so that a problem is reported for the file that brought it.
    if (opened.isGood()) {
      refuseIncomplete(byDefault, opened)
      refuseBadLikes(kinds.providers, opened)
      providerOf = suffixesOf(kinds.providers, opened)
    }
    opened.refuseBad('Bad shaping')
  }
  return { files, byDefault, ...kinds, providerOf }
}

/**
 * What `loadShaping` reads, but without the operator's files that are bad, and what is wrong with those. The first
 * file is ours.
 */
export function loadReadableShaping([ours = '', ...theirs]: readonly string[]): {
  data: ShapingData
  problems: string[]
} {
  const problems: string[] = []
  const good = theirs.filter((file) => {
    try {
      return loadShaping([ours, file])
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error
      problems.push(error.message)
      return false
    }
  })
  return { data: loadShaping([ours, ...good]), problems }
}

/** A table of a file. */
function at(file: OperatorFile, kind: string, name?: string) {
  const shown = name === undefined || isProviderName(name) ? name : JSON.stringify(name)
  const says = `[${shown === undefined ? kind : `${kind}.${shown}`}]`
  const path = name === undefined ? [kind] : [kind, name]
  return { place: { file, path, says }, isProvider: kind === 'providers' }
}

/** The name of a table in the form that is looked up; a bad name is a problem of the file. */
function checkedName({ file, path, says }: TomlPlace, name: string): string {
  const refuse = (expected: string) =>
    file.problem([...path, name], `${says}: ${quoted(name)} given, expected ${expected}`)
  if (says === '[providers]') {
    if (!isProviderName(name)) refuse('a name of a-z, 0-9 and hyphens')
    return name
  }
  const ascii = domainToASCII(name)
  if (!isHostName(ascii)) refuse('a host name such as "example.com"')
  return ascii
}

/** Every limit needs a value that holds for all sites. */
function refuseIncomplete(tables: readonly ShapingTable[], file: OperatorFile): void {
  for (const name of limitNames) {
    if (!tables.some(({ limits }) => limits[name] !== undefined)) {
      wrongValue(at(file, 'default').place, settingName([name]), undefined, 'a value for all sites')
    }
  }
}

// `like` takes over the tables of another provider below one's own. It leads one step only, so there can be no circle.
function refuseBadLikes(
  providers: ReadonlyMap<string, readonly ShapingTable[]>,
  file: OperatorFile,
) {
  for (const [name, tables] of providers) {
    const like = lastOf(tables, 'like')
    if (like === undefined) continue
    const model = providers.get(like)
    if (model === undefined || lastOf(model, 'like') !== undefined) {
      const expected = 'the name of a provider that is like no other'
      wrongValue(at(file, 'providers', name).place, 'like', like, expected)
    }
  }
}

/** Which provider an MX suffix belongs to; two may not have the same one. */
function suffixesOf(providers: ReadonlyMap<string, readonly ShapingTable[]>, file: OperatorFile) {
  const owners = new Map<string, string>()
  for (const [name, tables] of providers) {
    const { place } = at(file, 'providers', name)
    const suffixes = lastOf(tables, 'mx') ?? []
    if (suffixes.length === 0) {
      wrongValue(place, 'mx', undefined, 'a list of host names')
    }
    for (const suffix of suffixes) {
      const owner = owners.get(suffix)
      if (owner !== undefined && owner !== name) {
        wrongValue(place, 'mx', suffix, `one that is not of "${owner}" already`)
      }
      owners.set(suffix, name)
    }
  }
  return owners
}
