import { domainToASCII } from 'node:url'
import { settingName } from '../../config/index.js'
import { OperatorError } from '../../errors/index.js'
import { readToml } from '../../toml/index.js'
import { type Problems, tableOf } from './fields.js'
import { limitNames } from './limits.js'
import { isHostName, isProviderName, readTable, type ShapingTable } from './table.js'

/** Both files, checked. Of each list of tables the last one that says something counts. */
export interface ShapingData {
  readonly files: readonly string[]
  readonly byDefault: readonly ShapingTable[]
  readonly providers: ReadonlyMap<string, readonly ShapingTable[]>
  /** The operator's, by MX suffix. */
  readonly mx: ReadonlyMap<string, readonly ShapingTable[]>
  /** The operator's, by recipient domain. */
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
    const problems: Problems = []
    const content = readToml(file, 'the shaping')
    byDefault.push(readTable(content.default, at(file, 'default'), problems))
    for (const [kind, tables] of Object.entries(kinds)) {
      for (const [name, given] of Object.entries(tableOf(content[kind], `[${kind}]`, problems))) {
        const table = readTable(given, at(file, kind, name), problems)
        const key = checkedName(kind, name, problems)
        tables.set(key, [...(tables.get(key) ?? []), table])
      }
    }
    for (const key of Object.keys(content)) {
      if (key !== 'default' && !Object.hasOwn(kinds, key)) {
        problems.push(
          `${key}: no such table; known: [default], [providers.NAME], [mx."NAME"], [domains."NAME"]`,
        )
      }
    }
    // These compare tables with each other, which must be right by themselves before. They are judged after each
    // file, so that a problem is told of the file that brought it.
    if (problems.length === 0) {
      refuseIncomplete(byDefault, problems)
      refuseBadLikes(kinds.providers, problems)
      providerOf = suffixesOf(kinds.providers, problems)
    }
    if (problems.length > 0) {
      throw new OperatorError(`Bad shaping (${file}):\n  ${problems.join('\n  ')}`)
    }
  }
  return { files, byDefault, ...kinds, providerOf }
}

/**
 * What `loadShaping` reads, without the operator's files that are bad, and what is wrong with those; the first file is
 * ours.
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

/** The place of a table, as messages name it. */
function at(file: string, kind: string, name?: string) {
  const quoted = name === undefined || isProviderName(name) ? name : JSON.stringify(name)
  const table = quoted === undefined ? kind : `${kind}.${quoted}`
  return { file, table, provider: kind === 'providers' }
}

/** The name of a table as it is looked up; a bad one is a problem. */
function checkedName(kind: string, name: string, problems: Problems): string {
  if (kind === 'providers') {
    if (!isProviderName(name)) {
      problems.push(
        `[providers]: ${JSON.stringify(name)} given, expected a name of a-z, 0-9 and hyphens`,
      )
    }
    return name
  }
  const ascii = domainToASCII(name)
  if (!isHostName(ascii)) {
    problems.push(
      `[${kind}]: ${JSON.stringify(name)} given, expected a host name such as "example.com"`,
    )
  }
  return ascii
}

/** Every limit needs a value that holds for all sites. */
function refuseIncomplete(tables: readonly ShapingTable[], problems: Problems): void {
  for (const name of limitNames) {
    if (!tables.some(({ limits }) => limits[name] !== undefined)) {
      problems.push(
        `[default]: ${settingName([name])}: nothing given, expected a value for all sites`,
      )
    }
  }
}

// `like` takes over the tables of another provider below one's own. It leads one step only, so there can be no circle.
function refuseBadLikes(
  providers: ReadonlyMap<string, readonly ShapingTable[]>,
  problems: Problems,
) {
  for (const [name, tables] of providers) {
    const like = lastOf(tables, 'like')
    if (like === undefined) continue
    const model = providers.get(like)
    if (model === undefined || lastOf(model, 'like') !== undefined) {
      problems.push(
        `[providers.${name}]: like: "${like}" given, expected the name of a provider that is like no other`,
      )
    }
  }
}

/** Which provider an MX suffix belongs to; two may not have the same one. */
function suffixesOf(providers: ReadonlyMap<string, readonly ShapingTable[]>, problems: Problems) {
  const owners = new Map<string, string>()
  for (const [name, tables] of providers) {
    const suffixes = lastOf(tables, 'mx') ?? []
    if (suffixes.length === 0) {
      problems.push(`[providers.${name}]: mx: nothing given, expected a list of host names`)
    }
    for (const suffix of suffixes) {
      const owner = owners.get(suffix)
      if (owner !== undefined && owner !== name) {
        problems.push(
          `[providers.${name}]: mx: "${suffix}" given, expected one that is not of "${owner}" already`,
        )
      }
      owners.set(suffix, name)
    }
  }
  return owners
}
