import { type Failure, Struct, type as structWith } from 'superstruct'
import { optional } from './rule.js'
import type { Schema } from './schema.js'

/** What a value has to be, and how people and machines are told. */
export interface Field<T> {
  /** Checks it. Of the type `T`, which TypeScript could not compare if it stood here. */
  readonly struct: Struct<unknown, unknown>
  /** Describes it. */
  readonly schema: Schema
  /** For TypeScript alone: it is never there. */
  readonly TYPE?: T
}

/** Fields by their names. */
export type Fields = { readonly [name: string]: Field<unknown> }

/** The type of a field's value. */
export type TypeOf<F> = F extends Field<infer T> ? T : never

type Optional<F extends Fields> = {
  [Name in keyof F]: undefined extends TypeOf<F[Name]> ? Name : never
}[keyof F]

/** The values of fields: what may be missing may be undefined. */
export type FieldValues<F extends Fields> = {
  [Name in Exclude<keyof F, Optional<F>>]: TypeOf<F[Name]>
} & { [Name in Optional<F>]?: TypeOf<F[Name]> }

/** A field of a struct and a schema that say the same. */
export const field = <T, S>(struct: Struct<T, S>, schema: Schema): Field<T> => ({
  struct: struct as unknown as Struct<unknown, unknown>,
  schema,
})

/** The same field, which may be missing; `usual` says what is meant then. */
export function maybe<T>({ struct, schema }: Field<T>, usual?: string): Field<T | undefined> {
  const described = usual === undefined ? schema : saying(schema, `; default: ${usual}`)
  return { struct: optional(struct), schema: described }
}

/** The schema, whose description ends so. */
export const saying = (schema: Schema, more: string): Schema => ({
  ...schema,
  description: `${schema.description}${more}`,
})

interface TableOptions {
  /** What is to be known of all fields together. */
  about?: string
  /** One has to be there: a change of a misspelt field must not be answered as one that was made. */
  atLeastOne?: true
  /** Any other is refused: a limit whose name is misspelt would limit nothing. Otherwise others are passed over. */
  noOthers?: true
}

/** An object of fields. Those that are unknown are passed over, unless it says otherwise. */
export function table<F extends Fields>(
  fields: F,
  options: TableOptions = {},
): Field<FieldValues<F>> {
  const loose = structWith(structsOf(fields))
  const some = options.atLeastOne ? atLeastOne(loose) : loose
  const struct = options.noOthers ? noOthers(some) : some
  const { about } = options
  const required = Object.keys(fields).filter(
    (name) => fields[name]?.struct.is(undefined) === false,
  )
  return field(struct, {
    type: 'object',
    ...(options.atLeastOne && { minProperties: 1 }),
    ...(about !== undefined && { description: about }),
    properties: schemasOf(fields),
    ...(required.length > 0 && { required }),
    ...(options.noOthers && { additionalProperties: false }),
  }) as Field<unknown> as Field<FieldValues<F>>
}

/** What it is checked by, of its own type. */
export const structOf = <T>({ struct }: Field<T>): Struct<T> => struct as unknown as Struct<T>

/** What fields are checked by, under their names. */
export const structsOf = (fields: Fields): Record<string, Struct<unknown, unknown>> =>
  Object.fromEntries(Object.entries(fields).map(([name, { struct }]) => [name, struct]))

/** How fields are described, under their names. */
export const schemasOf = (fields: Fields): Record<string, Schema> =>
  Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]))

/**
 * The struct of an object with at least one of its fields: a change of a misspelt field must not be answered as
 * one that was made.
 */
export function atLeastOne<T, S extends object>(struct: Struct<T, S>): Struct<T, S> {
  const names = Object.keys(struct.schema)
  return refinedBy(struct, (given) =>
    names.some((name) => given[name] !== undefined)
      ? []
      : [{ message: `Expected one or more of ${names.join(', ')}` }],
  )
}

/**
 * The struct of an object without any other field: for what would be mightier if a limit that is misspelt, or newer
 * than this server, were passed over. `says` has the words for a field that is not among the names.
 */
export function noOthers<T, S extends object>(
  struct: Struct<T, S>,
  says: (field: string, names: readonly string[]) => string = (_, names) =>
    `Expected no fields other than ${names.join(', ')}`,
): Struct<T, S> {
  const names = Object.keys(struct.schema)
  return refinedBy(struct, (given, path) =>
    Object.keys(given)
      .filter((name) => !names.includes(name))
      .map((name) => ({
        type: 'never',
        value: given[name],
        path: [...path, name],
        message: says(name, names),
      })),
  )
}

/** The struct, which also fails with what `find` says is wrong with its fields together. */
function refinedBy<T, S extends object>(
  struct: Struct<T, S>,
  find: (given: Record<string, unknown>, path: readonly unknown[]) => Partial<Failure>[],
): Struct<T, S> {
  return new Struct<T, S>({
    ...struct,
    *refiner(value, context) {
      yield* struct.refiner(value, context)
      yield* find(value as Record<string, unknown>, context.path)
    },
  })
}
