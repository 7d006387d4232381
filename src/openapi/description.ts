import type { Contract, Described } from '../contract/index.js'
import type { Schema } from '../fields/index.js'

/** What a folder of endpoints says about itself. */
export interface Description {
  tag: { name: string; description: string }
  /** By name, for `shape` and for `$ref` to `#/components/schemas/<name>`. */
  schemas: Record<string, Schema>
  /** By method and path as they are routed: `GET /v1/emails/:id`. */
  operations: Record<string, Described>
}

/**
 * The description of a contract, with other folders' operations that readers look for there. A shape that several
 * operations share is the same in all.
 */
export function describe(contract: Contract, ...others: Omit<Contract, 'tag'>[]): Description {
  const schemas: Record<string, Schema> = {}
  const all: Record<string, Described> = {}
  for (const { operations, shapes } of [contract, ...others]) {
    Object.assign(schemas, shapes?.())
    for (const one of operations) {
      const said = one.describe()
      all[one.route] = said
      for (const { shape, schema } of [said.body, ...said.answers].flatMap((some) => some ?? [])) {
        if (schema !== undefined) schemas[shape] = schema
      }
    }
  }
  return { tag: contract.tag, schemas, operations: all }
}
