import type { Document } from '../document.js'
import { errorShapes, operationsOf, shapesOf } from '../documented.js'
import { capital, type Declared, makeTypes, type TypedField, type ValueType } from './types.js'

/** An operation as a client's method. */
export interface ClientMethod {
  /** `sendEmail`. */
  id: string
  method: string
  /** `/v1/emails/{id}`. */
  path: string
  about: string
  /** The parameters in the path, in its order. */
  params: readonly string[]
  query: readonly TypedField[]
  body: ValueType | undefined
  /** The name of the field in which a file is sent, instead of JSON. */
  file: string | undefined
  /** One answer, or several if the server may answer in several ways. */
  answers: readonly ValueType[]
  /** For a list with pages: the field of its items, and their type. */
  items: { field: string; of: ValueType } | undefined
}

/** The model from which a client in any language is printed. */
export interface ClientModel {
  version: string
  methods: readonly ClientMethod[]
  declared: readonly Declared[]
  /** The codes of errors. */
  codes: readonly string[]
}

/** Operations and types of the document; the same document gives the same model. */
export function modelOf(document: Document): ClientModel {
  const schemas = document.components.schemas ?? {}
  const all = operationsOf(document)
  const taken = new Set<string>()
  const output = makeTypes(schemas, (name) => name, 'out', taken)
  output.typeOf({ $ref: '#/components/schemas/WebhookPayload' }, 'WebhookPayload')
  const answersOf = all.map(({ operation }) =>
    shapesOf(operation, (status) => status.startsWith('2')).map((one) =>
      output.typeOf(one, `${capital(operation.operationId)}Answer`),
    ),
  )
  const answered = new Set(output.declared().map(({ name }) => name))
  const inputName = (name: string) => (answered.has(name) ? `${name}Input` : name)
  const input = makeTypes(schemas, inputName, 'in', taken)
  const methods = all.map(({ path, method, operation }, i): ClientMethod => {
    const { operationId: id, summary, parameters = [], requestBody } = operation
    const [body] = Object.entries(requestBody?.content ?? {})
    const isForm = body?.[0] === 'multipart/form-data'
    const answers = answersOf[i] ?? []
    return {
      id,
      method,
      path,
      about: summary,
      params: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
      query: parameters
        .filter((one) => one.in === 'query')
        .map(({ name, schema, description }) => ({
          name,
          about: description ?? (schema.description as string | undefined),
          type: input.typeOf(schema, capital(id) + capital(name)),
          needed: false,
        })),
      body:
        body === undefined || isForm
          ? undefined
          : input.typeOf(body[1].schema, `${capital(id)}Body`),
      file: isForm
        ? Object.keys((body?.[1].schema.properties as object) ?? { file: 0 })[0]
        : undefined,
      answers,
      items: itemsOf(answers, output.declared()),
    }
  })
  const declared = [...output.declared(), ...input.declared()]
  return {
    version: (document.info as { version: string }).version,
    methods,
    declared: declared.sort((a, b) => (a.name < b.name ? -1 : 1)),
    codes: errorShapes(all, schemas).map(([code]) => code),
  }
}

/** An answer with a `nextCursor` is a page; its list has the page's items. */
function itemsOf(answers: readonly ValueType[], declared: readonly Declared[]) {
  const [only] = answers
  if (only?.is !== 'named') return undefined
  const fields = declared.find(({ name }) => name === only.name)?.fields ?? []
  if (!fields.some(({ name }) => name === 'nextCursor')) return undefined
  for (const { name, type } of fields) if (type.is === 'list') return { field: name, of: type.of }
  return undefined
}
