import { type as structWith } from 'superstruct'
import {
  check,
  closed,
  type Field,
  type Fields,
  type FieldValues,
  pathId,
  type Schema,
  schemasOf,
  shaped,
  structsOf,
  text,
  textThat,
} from '../fields/index.js'
import type { Api, ApiHandler, Shape } from '../http/index.js'
import { onlyThese, takesOthers } from './query.js'
import { type Example, type RefusalExample, refusal } from './refusal.js'

/**
 * What an operation asks of a key. `any`: each key, for what it has a right to. `public`: no key at all. `live`: to
 * send, and not by a test key. `inbox`, `clear`: to look into the test inbox, or to empty it. `operator`: an operator
 * key, which belongs to no account.
 */
export type Permission =
  | 'public'
  | 'any'
  | 'sending'
  | 'live'
  | 'read'
  | 'inbox'
  | 'clear'
  | 'full'
  | 'operator'

/** A success. Answers with the same status are told apart by their shape. */
export interface AnswerExample extends Example {
  status: number
  shape: string
  /** The schema of the shape; given once where several answers have it. */
  schema?: Schema
}

/** A success whose body has exactly these fields. They may be null only where they say so. */
export const answer = (
  when: string,
  shape: string,
  fields: Record<string, Schema | Field<unknown>>,
  value: object,
  status = 200,
): AnswerExample => ({ status, when, shape, schema: closedOf(fields), value })

/** An object of exactly these fields. */
export const closedOf = (fields: Record<string, Schema | Field<unknown>>): Schema =>
  closed(
    Object.fromEntries(
      Object.entries(fields).map(([name, one]) => [name, isField(one) ? one.schema : one]),
    ),
  )

/** A list of items of a named shape, or of objects of exactly these fields. */
export const manyOf = (
  of: string | Record<string, Schema | Field<unknown>>,
  maxItems?: number,
): Schema => ({
  type: 'array',
  ...(maxItems !== undefined && { maxItems }),
  items: typeof of === 'string' ? shaped(of) : closedOf(of),
})

const isField = (one: Schema | Field<unknown>): one is Field<unknown> => 'struct' in one

/** What only the OpenAPI document says of an operation; `openapi/` adds what the route itself says. */
export interface OperationWords {
  summary: string
  description?: string
  /** Bodies, by the case that each shows; a test sends them. */
  examples?: Record<string, unknown>
  answers: AnswerExample[]
  refusals?: RefusalExample[]
}

/** An operation of the API, said once: route, document, client, keys and audit log follow it. */
export interface Operation<Params = unknown, Query = unknown, Body = unknown> {
  /** `POST /v1/topics/:id`. */
  readonly route: string
  /** Unique; client generators make a function's name of it. */
  readonly id: string
  readonly may: Permission
  /** Its name in the audit log, `topic.create`, whichever door it comes by; undefined: it is not logged. */
  readonly audit: string | undefined
  /** What its requests look like. All three types are `unknown`: TypeScript could not compare operations otherwise. */
  readonly shape: Shape<unknown, unknown, unknown>
  /** What the document says of it. */
  describe(): Described
  /** For TypeScript alone: it has no value at run time. */
  readonly TYPE?: { params: Params; query: Query; body: Body }
}

/** What a request of an operation says, once it is checked. */
export type BodyOf<O> = O extends Operation<unknown, unknown, infer B> ? B : never

/** An operation as the document describes it. */
export interface Described {
  id: string
  may: Permission
  summary: string
  description?: string
  /** Parameters of the path, by name: plain words describe a UUID; any other parameter has its whole schema. */
  params?: Record<string, string | Schema>
  /** After the `?`, by name; none is required. */
  query?: Record<string, Schema>
  /** Whether any other query parameter is refused. */
  refusesOthers?: boolean
  /** JSON, or a form where the route takes one; a form needs no examples. */
  body?: { shape: string; examples: Example[]; schema?: Schema }
  answers: AnswerExample[]
  refusals: RefusalExample[]
}

/** The operations of a domain, and what people read of it. */
export interface Contract {
  tag: { name: string; description: string }
  operations: readonly Operation[]
  /** Shapes that others refer to by name, and that no operation has as a whole body. */
  shapes?: () => Record<string, Schema>
}

/** What paths name: their parameters, and the 404 for a thing that does not exist or belongs to another account. */
export interface Named<P extends Fields> {
  params: P
  /** As in `Described`. */
  about: Record<string, string | Schema>
  notFound: string
  /** The cases in which the 404 comes. */
  when: string
}

/** A thing that paths name by its id; `whole` is its full name where that is longer. */
export const byId = (thing: string, whole = thing): Named<{ id: Field<string> }> => ({
  params: { id: pathId(`The UUID of the ${thing}`) },
  about: { id: `The UUID of the ${thing}` },
  notFound: `The account has no ${whole} with this id`,
  when: `The account has no such ${thing}`,
})

/** A task, which paths name by its number; `thing` is what it does. */
export const byTask = (thing = 'task'): Named<{ id: Field<string> }> => ({
  params: {
    id: textThat(
      'a number',
      (given) => /^\d{1,15}$/.test(given),
      text(taskNumber, { examples: ['12'] }),
    ),
  },
  about: { id: taskNumber },
  notFound: 'The account has no task with this number',
  when: `The account has no such ${thing}`,
})
export const taskNumber = 'The number of the task'

/** A body with the name that the document has for it. */
export interface ShapedField<T> extends Field<T> {
  readonly shape: string
}
/** The field, named for the document. */
export const shape = <T>(name: string, { struct, schema }: Field<T>): ShapedField<T> => ({
  struct,
  schema,
  shape: name,
})

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A file in a field of a form, and how the form is described. */
interface UploadedFile {
  field: string
  shape: string
  schema: Schema
}

interface Given<P extends Fields, Q extends Fields, B>
  extends Pick<Shape<never, never, never>, 'maxBodyBytes'> {
  id: string
  may: Permission
  audit?: string
  of?: Named<P>
  query?: Q
  body?: ShapedField<B>
  upload?: UploadedFile
  /** A function that only the document calls: an appliance whose document nobody reads makes none of it. */
  says: () => OperationWords
}

export function operation<
  P extends Fields = Record<never, Field<unknown>>,
  Q extends Fields = Record<never, Field<unknown>>,
  B = undefined,
>(
  route: `${Method} /v1/${string}`,
  { id, may, audit, of, query, body, upload, says, ...rest }: Given<P, Q, B>,
): Operation<FieldValues<P>, FieldValues<Q>, B> {
  const requests = {
    ...rest,
    ...(of !== undefined && { params: structWith(structsOf(of.params)), notFound: of.notFound }),
    ...queryOf(route, may, query),
    ...(body !== undefined && { body: body.struct }),
    ...(upload !== undefined && { upload: upload.field }),
  }
  const sent = body ?? upload
  return {
    route,
    id,
    may,
    audit,
    shape: requests as Shape<unknown, unknown, unknown>,
    describe: () => {
      const { examples = {}, refusals = [], ...words } = says()
      return {
        ...words,
        id,
        may,
        refusesOthers: !takesOthers(route, may),
        ...(of !== undefined && { params: of.about }),
        ...(query !== undefined && { query: schemasOf(query) }),
        ...(sent !== undefined && { body: bodyOf(sent, examples) }),
        refusals:
          of === undefined ? refusals : [refusal('not_found', of.when, of.notFound), ...refusals],
      }
    },
  }
}

/** The fields by which its query is checked. */
function queryOf(route: string, may: Permission, query: Fields | undefined) {
  if (!takesOthers(route, may)) return { query: onlyThese(query ?? {}) }
  return query === undefined ? {} : { query: structWith(structsOf(query)) }
}

const bodyOf = (
  { shape, schema }: Pick<UploadedFile, 'shape' | 'schema'>,
  examples: Record<string, unknown>,
) => ({
  shape,
  schema,
  examples: Object.entries(examples).map(([when, value]) => ({ when, value })),
})

/** Adds the route of an operation; the handler gets the checked request. `more`: bounds that settings decide. */
export function serve<Account, Params, Query, Body>(
  api: Api<Account>,
  { route, shape }: Operation<Params, Query, Body>,
  handler: ApiHandler<Account, Params, Query, Body>,
  more: Pick<Shape<never, never, never>, 'maxBodyBytes'> = {},
): void {
  const { add, path } = placeOf(api, route)
  // The operation's types are those of its fields.
  add(path, { ...shape, ...more } as Shape<Params, Query, Body>, handler)
}

/** Adds the route of a `public` operation, whose handler gets no account. */
export function servePublic<Account, Params, Query, Body>(
  api: Api<Account>,
  { route, shape }: Operation<Params, Query, Body>,
  handler: ApiHandler<undefined, Params, Query, Body>,
): void {
  const { add, path } = placeOf(api, route)
  add(path, { ...(shape as Shape<Params, Query, Body>), auth: false }, handler)
}

function placeOf<Account>(api: Api<Account>, route: string) {
  const [method = '', path = ''] = route.split(' ')
  const adders = {
    GET: api.get,
    POST: api.post,
    PUT: api.put,
    PATCH: api.patch,
    DELETE: api.delete,
  }
  return { add: adders[method as Method], path }
}

/** Checks what a page or a command gives to an operation by the fields of a request's body. Throws a `ShapeError`. */
export function checked<Body>(
  { route, shape }: Operation<unknown, unknown, Body>,
  given: object,
): Body {
  if (shape.body === undefined) throw new Error(`${route} takes nothing`)
  return check(given, shape.body) as Body
}

/** What a page writes about an operation into the audit log. */
export const auditOf = <D extends object>({ audit, route }: Operation, change: D) => ({
  action: audit ?? route,
  ...change,
})
