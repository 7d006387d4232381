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

/** What a contract says; a shape that several operations have is the same in all of them. */
export function describe({ tag, operations, shapes }: Contract): Description {
  const schemas: Record<string, Schema> = { ...shapes?.() }
  const all: Record<string, Described> = {}
  for (const one of operations) {
    const said = one.describe()
    all[one.route] = said
    for (const { shape, schema } of [said.body, ...said.answers].flatMap((some) => some ?? [])) {
      if (schema !== undefined) schemas[shape] = schema
    }
  }
  return { tag, schemas, operations: all }
}
