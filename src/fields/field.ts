import { type Failure, Struct, type as structWith } from 'superstruct'
import { optional } from './rule.js'
import type { Schema } from './schema.js'

/** What a value has to be, and how people and machines are told. */
export interface Field<T> {
  /**
   * Checks the value. Its type is `T`, which is not written here because TypeScript could not
   * compare it.
   */
  readonly struct: Struct<unknown, unknown>
  /** Describes the value. */
  readonly schema: Schema
  /** For TypeScript alone: it never exists. */
  readonly TYPE?: T
}

/** Fields by their names. */
export type Fields = { readonly [name: string]: Field<unknown> }

/** The type of a field's value. */
export type TypeOf<F> = F extends Field<infer T> ? T : never

type Optional<F extends Fields> = {
  [Name in keyof F]: undefined extends TypeOf<F[Name]> ? Name : never
}[keyof F]

/** The values of fields: an optional field may be undefined. */
export type FieldValues<F extends Fields> = {
  [Name in Exclude<keyof F, Optional<F>>]: TypeOf<F[Name]>
} & { [Name in Optional<F>]?: TypeOf<F[Name]> }

/** A field of a struct and a schema that say the same. */
export const field = <T, S>(struct: Struct<T, S>, schema: Schema): Field<T> => ({
  struct: struct as unknown as Struct<unknown, unknown>,
  schema,
})

/** The same field as an optional one; `usual` says what a missing one means. */
export function maybe<T>({ struct, schema }: Field<T>, usual?: string): Field<T | undefined> {
  const described = usual === undefined ? schema : saying(schema, `; default: ${usual}`)
  return { struct: optional(struct), schema: described }
}

/** The schema with `more` at the end of its description. */
export const saying = (schema: Schema, more: string): Schema => ({
  ...schema,
  description: `${schema.description}${more}`,
})

interface TableOptions {
  /** A description of all fields together. */
  about?: string
  /**
   * At least one field is required: a change of a misspelt field must not be answered as if it was
   * made.
   */
  atLeastOne?: true
  /** Other fields are refused, as a misspelt limit would limit nothing. Without this they are ignored. */
  noOthers?: true
}

/** An object of fields. Unknown ones are ignored, unless `noOthers` is set. */
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

/** The struct that checks it, with its own type. */
export const structOf = <T>({ struct }: Field<T>): Struct<T> => struct as unknown as Struct<T>

/** The structs that check fields, under their names. */
export const structsOf = (fields: Fields): Record<string, Struct<unknown, unknown>> =>
  Object.fromEntries(Object.entries(fields).map(([name, { struct }]) => [name, struct]))

/** The schemas that describe fields, under their names. */
export const schemasOf = (fields: Fields): Record<string, Schema> =>
  Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]))

/**
 * The struct of an object with at least one of its fields: a change of a misspelt field must not be answered as
 * if it was made.
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
 * The struct of an object that refuses other fields: ignoring a limit that is misspelt, or newer than this server,
 * would give more power than meant. `says` has the words for an unknown field.
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

/** The struct, which also fails with the faults that `find` tells of its fields together. */
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
