import type { Document } from '../../openapi/index.js'
import type { Html } from '../shell/html.js'
import { curl, localized } from './example.js'
import { markdown } from './markdown.js'
import { fieldsOf, type SchemaField, typeOf } from './schema-fields.js'

/** A request of the API, or an event that a webhook reports. */
export interface Listed {
  id: string
  tag: string
  /** `EVENT` for a webhook. */
  method: string
  path: string
  summary: string
  operation: Operation
}

/** The used part of an operation of OpenAPI 3.1. */
interface Operation {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  security?: object[]
  parameters?: {
    name: string
    in: string
    required?: boolean
    description?: string
    schema: object
  }[]
  requestBody?: { content: Record<string, Media>; required?: boolean }
  responses: Record<string, { description: string; content?: Record<string, Media> }>
}

/** A body in one content type. */
interface Media {
  schema?: object
  examples?: Record<string, { summary: string; value: unknown }>
  example?: unknown
}

/** All requests and events, in the document's order. */
export function listOperations(document: Document): Listed[] {
  const webhooks = document.webhooks as Document['paths']
  const from = (paths: Document['paths'], event: boolean) =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]): Listed => {
        const operation = described as unknown as Operation
        const { operationId: id, summary, tags } = operation
        return {
          id,
          tag: tags[0] ?? '',
          method: event ? 'EVENT' : method.toUpperCase(),
          path,
          summary,
          operation,
        }
      }),
    )
  return [...from(document.paths, false), ...from(webhooks, true)]
}

/** The page of one request or event. */
export interface OperationView {
  id: string
  tag: string
  method: string
  path: string
  summary: string
  description: Html
  parameters: SchemaField[]
  fields: SchemaField[]
  examples: { when: string; command: string; body: string | undefined }[]
  answers: { status: string; description: Html; good: boolean; example: string | undefined }[]
  /** Whether the page has a form to try it: not for files, nor for events. */
  tries: boolean
  /** Whether the request needs a key. */
  key: boolean
}

/** What the page of a request or event shows. */
export function operationView(
  document: Document,
  { id, tag, method, path, summary, operation }: Listed,
  { domain, own, now }: { domain: string | undefined; own: string; now: number },
): OperationView {
  // OpenAPI: an operation without `security` has the document's, which asks for the key.
  const key = operation.security === undefined
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  const bodies = Object.values(media?.examples ?? {})
  const url = `${own}${path}`
  // Whoever adds a domain adds a new one, not one of those that exist.
  const sender = tag === 'Domains' ? undefined : domain
  const command = (body?: string) =>
    curl({ method, url, key, form: type === 'multipart/form-data', ...(body && { body }) })
  return {
    id,
    tag,
    method,
    path,
    summary,
    key,
    description: markdown(operation.description ?? ''),
    parameters: (operation.parameters ?? []).map(
      ({ name, in: where, required, description, schema }) => ({
        name,
        type: `${where}, ${typeOf(document, schema)}`,
        required: required === true,
        description: markdown(
          description ?? String((schema as { description?: string }).description ?? ''),
        ),
      }),
    ),
    fields: media?.schema === undefined ? [] : fieldsOf(document, media.schema),
    examples:
      method === 'EVENT'
        ? [{ when: 'What is posted to you', command: pretty(media?.example), body: undefined }]
        : bodies.length === 0
          ? [{ when: 'Request', command: command(), body: undefined }]
          : bodies.map(({ summary: when, value }) => {
              const body = pretty(localized(value, sender, now))
              return { when, command: command(body), body }
            }),
    answers: Object.entries(operation.responses).map(([status, { description, content }]) => {
      const good = status.startsWith('2')
      // One example for each answer is enough.
      const first = Object.values(content?.['application/json']?.examples ?? {})[0]
      return {
        status,
        good,
        description: markdown(description),
        example: first && pretty(first.value),
      }
    }),
    tries: method !== 'EVENT' && type !== 'multipart/form-data',
  }
}

const pretty = (value: unknown) => JSON.stringify(value, undefined, 2)
