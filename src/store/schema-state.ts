import { type DatabasePlace, databaseCalled } from './place.js'

/** The first migration. Numbers below it were of Posthorn before its first release, which no release reads. */
export const baseline = '0101-baseline'

/** How the schema of a database stands to the one that this release knows. */
export interface SchemaState {
  /**
   * `none`: no release has begun it; `unreleased`: it is of before the first release; `newer`: it has migrations that
   * this release does not know, and may not go on with; `ahead`: the next release has added to it, which works beside this one.
   */
  kind: 'none' | 'unreleased' | 'older' | 'same' | 'ahead' | 'newer'
  /** The name of its last migration. */
  schema: string | undefined
  /** The version of the release that wrote it last; undefined where no release has got so far. */
  writtenBy: string | undefined
  /** Of one on a server: what releases of before have to know. */
  rolling?: Rolling
  /** Migrations of this release that take something away, and wait for `posthorn database contract`. */
  uncontracted: readonly string[]
  /** Those that it has to run before it can add what it adds. */
  contractsFirst: readonly string[]
}

/** What tells whether a release may be beside the one that wrote a database last. */
export interface Rolling {
  /** The last migration that took away what releases of before it need; empty: none has. */
  contracted: string
  /** The schemas that releases have brought it to, in order. */
  schemas: readonly string[]
}

/** The migrations of a release, and those of them that take something away. */
export interface KnownSchema {
  names: readonly string[]
  contracting: ReadonlySet<string>
}

/** What is found in a database: its migrations in order, the last release that wrote it. */
export interface FoundSchema {
  executed: readonly string[]
  writtenBy: string | undefined
  /** Of one on a server, which several releases may be over. */
  rolling?: Rolling
}

/** Whether a schema of that name is of before the first release. */
export const isUnreleased = (schema: string): boolean => schema < baseline

/** What is said of a database of before the first release. */
export const sayUnreleased = (place: DatabasePlace): string =>
  `${databaseCalled(place)} was made by Posthorn before its first release, and no release reads it: move that directory away, and make a new one ('posthorn setup' or 'posthorn init')`

export function stateOf(found: FoundSchema, known: KnownSchema): SchemaState {
  const { executed, writtenBy, rolling } = found
  const schema = executed.at(-1)
  // Whoever began it was killed before the first migration.
  if (schema === undefined)
    return {
      kind: 'none',
      schema: undefined,
      writtenBy: undefined,
      uncontracted: [],
      contractsFirst: [],
    }
  const due = known.names.filter((name) => !executed.includes(name))
  // One that nobody else may be over has them taken away at once.
  const uncontracted =
    rolling !== undefined && due.every((name) => known.contracting.has(name)) ? due : []
  return {
    kind: uncontracted.length > 0 ? 'same' : kindOf(found, known.names),
    schema,
    writtenBy,
    uncontracted,
    contractsFirst: due.filter(
      (name, at) =>
        known.contracting.has(name) && due.slice(at).some((later) => !known.contracting.has(later)),
    ),
    ...(rolling !== undefined && { rolling }),
  }
}

function kindOf({ executed, rolling }: FoundSchema, known: readonly string[]): SchemaState['kind'] {
  if (isUnreleased(executed.at(-1) ?? '')) return 'unreleased'
  if (executed.some((name) => !known.includes(name))) {
    const isBeside =
      rolling !== undefined && whyNotBeside(rolling, known.at(-1) ?? '') === undefined
    return isBeside ? 'ahead' : 'newer'
  }
  return executed.length < known.length ? 'older' : 'same'
}

/** Why a release that knows no schema after `latest` is not to work on such a database; undefined: it may. */
export function whyNotBeside(
  { contracted, schemas }: Rolling,
  latest: string,
): 'contracted' | 'two behind' | undefined {
  if (contracted > latest) return 'contracted'
  return schemas.filter((schema) => schema > latest).length > 1 ? 'two behind' : undefined
}
