import { type DatabasePlace, databaseCalled } from './place.js'

/**
 * The first migration. Lower numbers are from before Posthorn's first release, and no release reads such databases.
 */
export const baseline = '0101-baseline'

/** How the schema of a database relates to the one that this release knows. */
export interface SchemaState {
  /**
   * `none`: no release has begun it; `unreleased`: it is from before the first release; `newer`: it has migrations
   * that this release does not know and cannot work with; `ahead`: the next release has added to it, and can work
   * beside this one.
   */
  kind: 'none' | 'unreleased' | 'older' | 'same' | 'ahead' | 'newer'
  /** The name of its last migration. */
  schema: string | undefined
  /** The version of the release that wrote it last; undefined where no release has written it completely. */
  writtenBy: string | undefined
  /** For a database on a server: what earlier releases have to know. */
  rolling?: Rolling
  /** Migrations of this release that take something away, and wait for `posthorn database contract`. */
  uncontracted: readonly string[]
  /** Migrations that have to be contracted before this release can add its own. */
  contractsFirst: readonly string[]
}

/** What decides whether a release may work beside the one that wrote a database last. */
export interface Rolling {
  /** The last migration that removed something earlier releases need; empty: none has. */
  contracted: string
  /** The schemas that releases have brought it to, in order. */
  schemas: readonly string[]
}

/** The migrations of a release, and those of them that take something away. */
export interface KnownSchema {
  names: readonly string[]
  contracting: ReadonlySet<string>
}

/** What a database says: its migrations in order, and the last release that wrote it. */
export interface FoundSchema {
  executed: readonly string[]
  writtenBy: string | undefined
  /** For a database on a server, which several releases may use. */
  rolling?: Rolling
}

/** Whether a schema of that name is from before the first release. */
export const isUnreleased = (schema: string): boolean => schema < baseline

/** The message for a database from before the first release. */
export const sayUnreleased = (place: DatabasePlace): string =>
  `${databaseCalled(place)} was made by Posthorn before its first release, and no release reads it: move that directory away, and make a new one ('posthorn setup' or 'posthorn init')`

export function stateOf(found: FoundSchema, known: KnownSchema): SchemaState {
  const { executed, writtenBy, rolling } = found
  const schema = executed.at(-1)
  // The process that began it was killed before the first migration.
  if (schema === undefined)
    return {
      kind: 'none',
      schema: undefined,
      writtenBy: undefined,
      uncontracted: [],
      contractsFirst: [],
    }
  const due = known.names.filter((name) => !executed.includes(name))
  // Where nobody else may use the database, removals happen at once.
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

/** Why a release that knows no schema after `latest` must not work on such a database; undefined: it may. */
export function whyNotBeside(
  { contracted, schemas }: Rolling,
  latest: string,
): 'contracted' | 'two behind' | undefined {
  if (contracted > latest) return 'contracted'
  return schemas.filter((schema) => schema > latest).length > 1 ? 'two behind' : undefined
}
