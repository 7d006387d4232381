import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { Document } from '../../src/openapi/index.js'

/** A request and what came back, however it was sent. */
export interface Observed {
  method: string
  path: string
  /** The request's body, parsed. */
  sent?: unknown
  status: number
  header(name: string): string | null | undefined
  text: string
}

export interface Contract {
  /** Throws unless the document allows this answer; an allowed one is remembered in `produced`. */
  check(observed: Observed): void
  /** Bodies that the document promises: `POST /v1/emails/send 400 DomainNotVerified`. */
  readonly documented: ReadonlySet<string>
  readonly produced: ReadonlySet<string>
  /** Why a value does not have the schema at a JSON pointer into the document, or undefined. */
  fault(pointer: string, value: unknown): string | undefined
}

interface Response {
  headers: Record<string, { $ref: string } | DocumentedHeader>
  content: { 'application/json': { schema: { $ref?: string; oneOf?: { $ref: string }[] } } }
}

interface DocumentedHeader {
  required: boolean
  schema: { type?: string }
}

interface DocumentedOperation {
  requestBody?: { required: boolean; content: Record<string, object> }
  responses: Record<string, Response>
}

const known = new Map<string, Contract>()

/** The contract that an appliance serves; the same text gives the same object. */
export async function contractOf(url: string): Promise<Contract> {
  const text = await (await fetch(`${url}/v1/openapi.json`)).text()
  const contract = known.get(text) ?? makeContract(JSON.parse(text))
  known.set(text, contract)
  return contract
}

/**
 * What a document promises. Whether its schemas are themselves valid JSON Schema is checked only with
 * `validateSchema`, by one test, because ajv takes as long for that as for everything that a usual test asks.
 */
export function makeContract(document: Document, { validateSchema = false } = {}): Contract {
  const strict = { strict: true, strictTypes: false, strictRequired: false }
  // A schema checks only a few values: to optimize its code takes longer than it saves.
  const ajv = new Ajv2020({ ...strict, validateSchema, code: { optimize: false } })
  formats.default(ajv)
  // To ajv the document is a schema whose keywords it does not know.
  ajv.addVocabulary(Object.keys(document))
  ajv.addSchema(document, 'document')
  const validators = new Map<string, ValidateFunction>()
  const fault = (given: string, value: unknown): string | undefined => {
    const pointer = followed(document, given)
    const validate = validators.get(pointer) ?? ajv.compile({ $ref: `document${pointer}` })
    validators.set(pointer, validate)
    return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'body' })
  }

  const variables = (path: string) => path.split('{').length
  const paths = Object.entries(document.paths)
    .map(([path, operations]) => ({
      path,
      pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
      operations: operations as unknown as Record<string, DocumentedOperation>,
    }))
    // OpenAPI 3.1, Paths Object: concrete paths are matched before those with variables.
    .sort((a, b) => variables(a.path) - variables(b.path))
  const nowhere = document['x-elsewhere'] as Record<string, Response>
  const documented = new Set<string>()
  for (const { path, operations } of paths) {
    for (const [method, { responses }] of Object.entries(operations)) {
      for (const [status, response] of Object.entries(responses)) {
        for (const shape of shapesOf(response)) {
          documented.add(`${method.toUpperCase()} ${path} ${status} ${nameOf(shape)}`)
        }
      }
    }
  }
  const produced = new Set<string>()

  function checkHeaders({ headers }: Response, observed: Observed, where: string): void {
    for (const [name, told] of Object.entries(headers)) {
      const value = observed.header(name)
      const header =
        '$ref' in told
          ? (document.components.headers?.[nameOf(told.$ref)] as unknown as DocumentedHeader)
          : told
      if (value === null || value === undefined) {
        if (header.required) throw new Error(`${where} lacks the header ${name}`)
        continue
      }
      const given = header.schema.type === 'integer' ? Number(value) : value
      const wrong = '$ref' in told ? fault(`${told.$ref}/schema`, given) : undefined
      if (wrong !== undefined) throw new Error(`${where} has ${name}: ${value}: ${wrong}`)
    }
  }

  return {
    documented,
    produced,
    fault,
    check(observed) {
      const method = observed.method === 'HEAD' ? 'GET' : observed.method
      const pathname = observed.path.replace(/\/?(\?.*)?$/, '')
      const found = paths.find(({ pattern }) => pattern.test(pathname))
      const operation = found?.operations[method.toLowerCase()]
      const response =
        operation === undefined
          ? nowhere[found === undefined ? 'NoSuchPath' : 'NoSuchMethod']
          : operation.responses[observed.status]
      const where = `${method} ${found?.path ?? pathname} ${observed.status}`
      if (response === undefined) throw new Error(`${where} is not documented: ${observed.text}`)
      checkHeaders(response, observed, where)
      if (observed.method === 'HEAD') return

      const body: unknown = JSON.parse(observed.text)
      const shapes = shapesOf(response)
      const faults = shapes.map((shape) => fault(shape, body))
      const fitting = shapes.filter((_, index) => faults[index] === undefined)
      if (fitting.length !== 1) {
        const why = fitting.length > 1 ? `fits ${fitting.join()}` : faults.join('; ')
        throw new Error(`${where}: not as documented: ${why}: ${observed.text.slice(0, 2_000)}`)
      }
      produced.add(`${where} ${nameOf(fitting[0] ?? '')}`)
      const takesJson = operation?.requestBody?.content['application/json'] !== undefined
      if (observed.status >= 300 || !takesJson) return
      if (observed.sent === undefined && operation?.requestBody?.required === false) return
      const pointer = `#/paths/${escaped(found?.path ?? '')}/${method.toLowerCase()}/requestBody`
      const odd = fault(`${pointer}/content/application~1json/schema`, observed.sent)
      if (odd !== undefined) throw new Error(`${where}: accepted, but the request is odd: ${odd}`)
    },
  }
}

/** Follows a schema that is only a reference: many places share the target, which is compiled once. */
function followed(document: Document, pointer: string): string {
  let at: unknown = document
  for (const key of pointer.split('/').slice(1))
    at = (at as Record<string, unknown>)[unescaped(key)]
  const { $ref, ...rest } = (at ?? {}) as { $ref?: string }
  return $ref?.startsWith('#/') && Object.keys(rest).length === 0
    ? followed(document, $ref)
    : pointer
}

function shapesOf({ content }: Response): string[] {
  const { $ref, oneOf = [] } = content['application/json'].schema
  return $ref === undefined ? oneOf.map((one) => one.$ref) : [$ref]
}

const nameOf = (pointer: string) => pointer.slice(pointer.lastIndexOf('/') + 1)

/** A key as a part of a JSON pointer in a URL's fragment (RFC 6901 §3, §6). */
export const escaped = (key: string) =>
  encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))

const unescaped = (key: string) =>
  decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
