import { STATUS_CODES } from 'node:http'
import { keyScopes, scopesWith } from '../accounts/index.js'
import type { AnswerExample, Described, Example, RefusalExample } from '../contract/index.js'
import { orNull, type Schema, shaped } from '../fields/index.js'
import type { ApiRoute } from '../http/index.js'
import { commonRefusals, nowhere } from './common.js'
import { contracts, operatorContracts } from './contract.js'
import { type Description, describe } from './description.js'
import { allow, errorTable, responseHeaders, welcome } from './general.js'
import { describeWebhooks, webhookSchemas, webhookTag } from './webhooks.js'

const descriptions: readonly Description[] = contracts.map((those) => describe(...those))

/** All descriptions with the operator's API. */
export const withOperatorApi = (): readonly Description[] => [
  ...descriptions,
  ...operatorContracts.map((those) => describe(...those)),
]

/**
 * The routes as far as their descriptions tell them, which is enough for the client's types: the build makes these
 * before anything is compiled.
 */
export const describedRoutes = (): ApiRoute[] =>
  descriptions.flatMap(({ operations, schemas }) =>
    Object.entries(operations).map(([name, { body }]) => {
      const [method = '', path = ''] = name.split(' ')
      const kind = body && (isForm(schemas[body.shape]) ? 'form' : 'json')
      return { method, path, auth: true, body: kind, bodyOptional: false, maxBodyBytes: 0 }
    }),
  )

// OpenAPI 3.1, 'Considerations for File Uploads': bytes in a form have a media type and no `type`.
const isForm = (schema: Schema | undefined): boolean =>
  Object.values((schema?.properties ?? {}) as Record<string, Schema>).some(
    (field) => field.contentMediaType !== undefined,
  )

/** An OpenAPI 3.1 document. */
export interface Document {
  openapi: string
  info: Schema
  paths: Record<string, Record<string, Schema>>
  components: Record<string, Record<string, Schema>>
  [field: string]: unknown
}

/**
 * The OpenAPI 3.1 document of these routes. Throws if a route has no description, or a description has no
 * route.
 */
export function makeDocument(
  routes: readonly ApiRoute[],
  version: string,
  described = descriptions,
): Document {
  const schemas: Record<string, Schema> = {}
  const paths = describePaths(routes, described, schemas)
  const elsewhere = mapped(nowhere, (refusal) => response([refusal], schemas))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Posthorn',
      version,
      description: `${welcome}\n\n${errorTable()}`,
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The operator of this appliance' },
    },
    servers: [{ url: '/', description: 'This appliance' }],
    security: [{ apiKey: [] }],
    tags: [...described.map(({ tag }) => tag), webhookTag()],
    paths,
    webhooks: describeWebhooks(),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key, `ph_…`, as `posthorn key create` and `POST /v1/keys` show it once.',
        },
      },
      headers: responseHeaders,
      schemas: { ...schemas, ...webhookSchemas },
    },
    // They belong to no operation, so nothing could refer to them among the components.
    'x-elsewhere': elsewhere,
  }
}

/**
 * Requires a description for each route of the running server, and a route for each description: the document can
 * neither miss an endpoint nor invent one. A difference is an error, which every test finds.
 */
function describePaths(
  routes: readonly ApiRoute[],
  described: readonly Description[],
  schemas: Record<string, Schema>,
): Document['paths'] {
  const paths: Document['paths'] = {}
  // The routes that nobody has described yet.
  const left = new Set(routes.filter(({ path }) => path.startsWith('/v1/')))
  for (const { tag, operations, schemas: own } of described) {
    // The shapes of requests: there null stands for an absent field, unlike in answers.
    const taken = new Set(Object.values(operations).map(({ body }) => body?.shape))
    for (const [name, schema] of Object.entries(own)) {
      addSchema(schemas, name, taken.has(name) ? withNulls(schema) : schema)
    }
    for (const [name, operation] of Object.entries(operations)) {
      const route = routes.find(({ method, path }) => `${method} ${path}` === name)
      if (route === undefined) throw new Error(`${name} is described, but there is no such route`)
      left.delete(route)
      const path = route.path.replace(/:([^/]+)/g, '{$1}')
      const known = paths[path] ?? {}
      paths[path] = known
      known[route.method.toLowerCase()] = {
        tags: [tag.name],
        ...describeRoute(route, operation, schemas),
      }
    }
  }
  const [missing] = left
  if (missing === undefined) return paths
  throw new Error(`${missing.method} ${missing.path} has no description in src/openapi`)
}

/** An operation: its description, and what follows from the kind of its route. */
function describeRoute(
  route: ApiRoute,
  operation: Described,
  schemas: Record<string, Schema>,
): Schema {
  const refusals = [...operation.refusals, ...commonRefusals(route, operation)]
  const responses: Record<string, Schema> = {}
  const all: (AnswerExample | RefusalExample)[] = [...operation.answers, ...refusals]
  for (const status of [...new Set(all.map((one) => one.status))].sort()) {
    const those = all.filter((one) => one.status === status)
    responses[status] = response(those, schemas, isIdempotent(route))
  }
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...describedWithScopes(route, operation),
    ...(route.auth ? {} : { security: [] }),
    ...parameters(route, operation),
    ...(operation.body === undefined ? {} : { requestBody: requestBody(route, operation.body) }),
    responses,
  }
}

/** Which keys may call it, for people and, as `x-key-scopes`, for machines. */
function describedWithScopes({ auth }: ApiRoute, { description, may }: Described): Schema {
  const scopes = may === 'operator' ? ['operator'] : auth ? scopesWith(may) : keyScopes
  const limited = scopes.length < keyScopes.length
  const who = `Needs a key of the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`
  const text = [description, ...(limited ? [who] : [])].filter(Boolean).join(' ')
  return {
    ...(text === '' ? {} : { description: text }),
    ...(auth ? { 'x-key-scopes': scopes } : {}),
  }
}

// The rule of `http`: every POST takes the header if an API key tells whose request it is.
const isIdempotent = ({ method, auth }: ApiRoute) => method === 'POST' && auth

/**
 * Path parameters are UUIDs unless they say otherwise. A value that is not one answers 404 like an
 * id that does not exist, so no 400 is described for them.
 */
function parameters(route: ApiRoute, { params = {}, query = {} }: Described): Schema {
  const all = [
    ...Object.entries(params).map(([name, description]) => ({
      name,
      in: 'path',
      required: true,
      ...(typeof description === 'string'
        ? { description, schema: { type: 'string', format: 'uuid' } }
        : { description: description.description, schema: description }),
    })),
    ...Object.entries(query).map(([name, schema]) => ({ name, in: 'query', schema })),
    ...(isIdempotent(route) ? [idempotencyKey] : []),
  ]
  return all.length === 0 ? {} : { parameters: all }
}

/**
 * interface.md wants the header on send and batch; it is on every POST, because a client's retry
 * does not know which of them are safe to repeat.
 */
const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A repeat with the same key and body within 24 hours gets the first answer again and does nothing. JSON that differs only in the order of its fields and in white space is the same body; of an import only the file counts.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  example: 'order-4711',
}

/**
 * All examples are validated against the schema and against the server's own rules by a test, so
 * that what people copy works.
 */
function requestBody(
  { body, bodyOptional }: ApiRoute,
  { shape, examples }: { shape: string; examples: Example[] },
): Schema {
  const content = {
    schema: shaped(shape),
    ...(examples.length > 0 && { examples: named(examples) }),
  }
  const type = body === 'form' ? 'multipart/form-data' : 'application/json'
  return { required: !bodyOptional, content: { [type]: content } }
}

/** The schema for clients' input: null in an optional field means absent, at every depth. */
function withNulls(schema: Schema): Schema {
  const { properties, items, required } = schema
  const needed = new Set(required as string[] | undefined)
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties as Record<string, Schema>).map(([name, inner]) => [
          name,
          needed.has(name) ? withNulls(inner) : orNull(withNulls(inner)),
        ]),
      ),
    }),
    ...(items !== undefined && { items: withNulls(items as Schema) }),
  }
}

/** One status: each possible shape of its body, an example of each case, and its headers. */
function response(
  those: readonly (AnswerExample | RefusalExample)[],
  schemas: Record<string, Schema>,
  idempotent = false,
): Schema {
  const status = those[0]?.status ?? 0
  const refusals = those.filter((one) => 'code' in one)
  for (const { shape, schema } of refusals) addSchema(schemas, shape, schema)
  const shapes = [...new Set(those.map(({ shape }) => shape))].map(shaped)
  const codes = [...new Set(refusals.map(({ code }) => code))]
  return {
    description: [
      `${STATUS_CODES[status]}`,
      ...(refusals.length === 0 ? [] : ['']),
      ...refusals.map(({ code, when }) => `- \`${code}\`: ${when}`),
    ].join('\n'),
    headers: headersOf(status, idempotent),
    content: {
      'application/json': {
        schema: shapes.length === 1 ? shapes[0] : { oneOf: shapes },
        examples: named(those),
      },
    },
    ...(codes.length === 0 ? {} : { 'x-error-codes': codes }),
  }
}

// `Retry-After` has two descriptions, as it comes with each 429, but with a 503 only if the trouble is brief.
function headersOf(status: number, idempotent: boolean): Schema {
  const names = [
    'X-Request-Id',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    ...(status < 300 && idempotent ? ['Idempotency-Replay'] : []),
    ...(status === 401 ? ['WWW-Authenticate'] : []),
    ...(status === 429 ? ['Retry-After'] : []),
    ...(status === 503 ? ['Retry-After-If-Brief'] : []),
  ]
  const described = names.map((name) => [
    name.replace('-If-Brief', ''),
    { $ref: `#/components/headers/${name}` },
  ])
  return { ...Object.fromEntries(described), ...(status === 405 ? { Allow: allow } : {}) }
}

/** Examples in OpenAPI's form, an object: each is named after the case that it shows. */
function named(examples: readonly Example[]): Schema {
  return Object.fromEntries(
    examples.map(({ when, value }) => [
      when
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, ''),
      // A plain text, unlike descriptions.
      { summary: when.replaceAll('`', ''), value },
    ]),
  )
}

/** The same names with other values. */
const mapped = <T>(values: Record<string, T>, to: (value: T) => Schema): Record<string, Schema> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, to(value)]))

/** Endpoints may share a shape by name, as many errors do; then it must be the same everywhere. */
function addSchema(schemas: Record<string, Schema>, name: string, schema: Schema): void {
  const known = schemas[name]
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
    throw new Error(`Two different shapes are named ${name}`)
  }
  schemas[name] = schema
}
