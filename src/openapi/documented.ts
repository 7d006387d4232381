import type { Schema } from '../fields/index.js'
import type { Document } from './document.js'

/** An operation's parameter in the document. */
export interface DocumentedParameter {
  name: string
  in: 'path' | 'query' | 'header'
  schema: Schema
  description?: string
}

/** An operation in the document, as far as clients need it. */
export interface DocumentedOperation {
  operationId: string
  summary: string
  parameters?: DocumentedParameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content: { 'application/json': { schema: Schema } } }>
}

/** An operation by method and path, as clients call it. */
export interface NamedOperation {
  method: string
  path: string
  /** Both of them: `GET /v1/emails/{id}`. */
  key: string
  operation: DocumentedOperation
}

/** All operations of a document, in its order. */
export const operationsOf = ({ paths }: Document): NamedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([given, operation]) => {
      const method = given.toUpperCase()
      const key = `${method} ${path}`
      return { method, path, key, operation: operation as unknown as DocumentedOperation }
    }),
  )

/** An answer can have several shapes (`oneOf`); each is returned separately. */
export function shapesOf(
  { responses }: DocumentedOperation,
  wanted: (status: string) => boolean,
): Schema[] {
  const schemas = Object.entries(responses)
    .filter(([status]) => wanted(status))
    .map(([, { content }]) => content['application/json'].schema)
  return schemas.flatMap((schema) => (schema.oneOf as Schema[] | undefined) ?? [schema])
}

/** The name of a schema in a reference to it. */
export const nameIn = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1)

/** The bodies that an error can have, by its code. */
export function errorShapes(
  operations: readonly NamedOperation[],
  schemas: Readonly<Record<string, Schema>>,
): [code: string, shapes: string[]][] {
  const byCode = new Map<string, Set<string>>()
  for (const { operation } of operations) {
    for (const { $ref } of shapesOf(operation, (status) => !status.startsWith('2'))) {
      const name = nameIn(String($ref))
      const { code } = (schemas[name]?.properties ?? {}) as Record<string, { const?: string }>
      if (code?.const === undefined) continue
      byCode.set(code.const, (byCode.get(code.const) ?? new Set()).add(name))
    }
  }
  return [...byCode]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, names]) => [code, [...names].sort()])
}
