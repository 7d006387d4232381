import { type DatabasePlace, databaseCalled } from './place.js'

/** The first migration. Numbers below it were of Posthorn before its first release, which no release reads. */
export const baseline = '0101-baseline'

/** How the schema of a database stands to the one that this release knows. */
export interface SchemaState {
  /**
   * `none`: no release has begun it; `unreleased`: it is of before the first release; `newer`: it has migrations that
   * this release does not know.
   */
  kind: 'none' | 'unreleased' | 'older' | 'same' | 'newer'
  /** The name of its last migration. */
  schema: string | undefined
  /** The version of the release that wrote it last; undefined where no release has got so far. */
  writtenBy: string | undefined
}

/** Whether a schema of that name is of before the first release. */
export const isUnreleased = (schema: string): boolean => schema < baseline

/** What is said of a database of before the first release. */
export const sayUnreleased = (place: DatabasePlace): string =>
  `${databaseCalled(place)} was made by Posthorn before its first release, and no release reads it: move that directory away, and make a new one ('posthorn setup' or 'posthorn init')`

/** `executed`: the names of its migrations in order; `known`: those of this release; `writtenBy`: its last release. */
export function stateOf(
  executed: readonly string[],
  known: readonly string[],
  writtenBy: string | undefined,
): SchemaState {
  const schema = executed.at(-1)
  // Whoever began it was killed before the first migration.
  if (schema === undefined) return { kind: 'none', schema: undefined, writtenBy: undefined }
  return { kind: kindOf(executed, known), schema, writtenBy }
}

function kindOf(executed: readonly string[], known: readonly string[]): SchemaState['kind'] {
  if (isUnreleased(executed.at(-1) ?? '')) return 'unreleased'
  if (executed.some((name) => !known.includes(name))) return 'newer'
  return executed.length < known.length ? 'older' : 'same'
}
