import { dynamic, type Struct } from 'superstruct'
import { type Field, type Fields, type FieldValues, field, table } from './field.js'
import { oneOf } from './kinds.js'

type Tables = { readonly [word: string]: Fields }

/**
 * The value of a field of several tables: one table's value, with the word that names the table.
 */
export type VariantOf<T extends Tables, Key extends string> = {
  [Word in keyof T & string]: { [name in Key]: Word } & FieldValues<T[Word]>
}[keyof T & string]

const choosers = new WeakMap<object, (value: unknown) => Struct>()

/** One of several tables, told apart by the word in its field `key`. Fields that a table lacks are refused. */
export function variants<const Key extends string, T extends Tables>(
  key: Key,
  tables: T,
): Field<VariantOf<T, Key>> {
  const word = oneOf(Object.keys(tables))
  const whole = new Map(
    Object.entries(tables).map(([name, fields]) => [
      name,
      table({ [key]: oneOf([name]), ...fields }, { noOthers: true }),
    ]),
  )
  const none = table({ [key]: word })
  const chosen = (value: unknown) => {
    const name = (value as Record<string, unknown> | null | undefined)?.[key]
    return (whole.get(String(name)) ?? none).struct as unknown as Struct
  }
  const struct = dynamic(chosen)
  choosers.set(struct, chosen)
  return field(struct, { oneOf: [...whole.values()].map(({ schema }) => schema) }) as Field<
    VariantOf<T, Key>
  >
}

/** The struct that checks this value of variants; any other struct is returned unchanged. */
export const chosenStruct = (struct: { schema: unknown }, value: unknown): { schema: unknown } =>
  choosers.get(struct)?.(value) ?? struct
