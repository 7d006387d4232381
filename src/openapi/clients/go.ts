import type { ClientMethod, ClientModel } from './operations.js'
import { capital, type Declared, type TypedField, type ValueType } from './types.js'

/** The Go client: the core, with types and methods of the document behind it. */
export function printGo(core: string, { version, methods, declared }: ClientModel): string {
  const byName = new Map(declared.map((one) => [one.name, one]))
  return core
    .replace('@VERSION@', version)
    .replace('// <types>', () => declared.map((one) => printDeclared(one)).join('\n\n'))
    .replace('// <methods>', () => methods.map((one) => printMethod(one, byName)).join('\n\n'))
}

function printDeclared({ name, side, about, fields, choices = [], is }: Declared): string {
  const own = goName(name)
  const oneOf =
    choices.length === 0
      ? ''
      : ` Exactly one is needed: ${choices.map((some) => some.map(goName).join(' with ')).join(', or ')}.`
  const said = comment(
    `${own} ${about === undefined ? 'is of the API.' : `is: ${about}`}${oneOf}`,
    '',
  )
  if (fields === undefined)
    return `${said}type ${own} ${is === undefined ? 'any' : typeOf(is, side)}`
  return `${said}type ${own} ${structOf(fields, side)}`
}

function structOf(fields: readonly TypedField[], side: Declared['side']): string {
  const lines = fields.map(({ name, about, type, needed }) => {
    const plain = typeOf(type, side)
    // An optional value is a pointer, as otherwise a zero value would be sent; lists, maps and `any`
    // have nil.
    const isOwn = /^[[*]|^map|^any$|^json\./.test(plain)
    const absent = !needed && side === 'in'
    const own = absent && !isOwn ? `*${plain}` : plain
    const tag = `\`json:"${name}${absent ? ',omitempty' : ''}"\``
    return `${about === undefined ? '' : comment(about, '\t')}\t${goName(name)} ${own} ${tag}`
  })
  return `struct {\n${lines.join('\n')}\n}`
}

function typeOf(type: ValueType, side: Declared['side']): string {
  const own = plainType(type, side)
  return type.orNull && !/^[[*]|^map|^any$|^json\./.test(own) ? `*${own}` : own
}

function plainType(type: ValueType, side: Declared['side']): string {
  switch (type.is) {
    case 'text':
      return 'string'
    case 'time':
      return 'time.Time'
    case 'whole':
      return 'int64'
    case 'number':
      return 'float64'
    case 'flag':
      return 'bool'
    case 'words': {
      const [first] = type.words
      return typeof first === 'string' ? 'string' : typeof first === 'boolean' ? 'bool' : 'float64'
    }
    case 'list':
      return `[]${typeOf(type.of, side)}`
    case 'map':
      return `map[string]${typeOf(type.of, side)}`
    case 'named':
      return goName(type.name)
    // Go has no union types; such an answer may be read in either way.
    case 'any':
    case 'either':
      return side === 'in' ? 'any' : 'json.RawMessage'
  }
}

function printMethod(method: ClientMethod, byName: ReadonlyMap<string, Declared>): string {
  const { id, about, params, query, body, file, answers, items, path } = method
  const name = goName(id)
  const queryName = `${name}Query`
  const answerName = `${name}Answer`
  const declarations: string[] = []
  if (query.length > 0) {
    // The iterator itself sets where a page begins.
    const some = query.filter((one) => items === undefined || one.name !== 'cursor')
    declarations.push(
      `${comment(`${queryName} narrows ${name} down.`, '')}type ${queryName} ${structOf(some, 'in')}`,
    )
  }
  const answer = answers.length > 1 ? answerName : typeOf(answers[0] ?? { is: 'any' }, 'out')
  if (answers.length > 1) {
    const about = `${answerName} has the fields of each way in which ${name} may be answered.`
    declarations.push(
      `${comment(about, '')}type ${answerName} ${structOf(merged(answers, byName), 'out')}`,
    )
  }
  const given = [
    'ctx context.Context',
    ...params.map((one) => `${local(one)} string`),
    ...(body === undefined ? [] : [`body ${typeOf(body, 'in')}`]),
    ...(file === undefined ? [] : ['file []byte']),
    ...(query.length === 0 ? [] : [`query ${queryName}`]),
    'options ...Option',
  ].join(', ')
  const said = comment(`${name}: ${about}.`, '')
  const fail =
    items === undefined
      ? 'return nil, err'
      : `return &Pages[${typeOf(items.of, 'out')}]{ended: true, err: err}`
  const lines = [
    ...(params.length === 0
      ? []
      : [
          `path, err := pathOf("${path}", ${params.map(local).join(', ')})`,
          `if err != nil {\n\t\t${fail}\n\t}`,
        ]),
    ...(file === undefined
      ? []
      : [`form, contentType, err := formOf("${file}", file)`, `if err != nil {\n\t\t${fail}\n\t}`]),
  ]
  const target = params.length === 0 ? `"${path}"` : 'path'
  const parts = [
    `method: "${method.method}"`,
    `path: ${target}`,
    ...(query.length === 0 ? [] : ['query: query']),
    ...(body === undefined ? [] : ['body: body']),
    ...(file === undefined ? [] : ['form: form', 'contentType: contentType']),
  ]
  if (items !== undefined) {
    const item = typeOf(items.of, 'out')
    const asked = parts.map((one) =>
      one === 'query: query'
        ? 'query: struct {\n\t\t\t' +
          queryName +
          '\n\t\t\tCursor string `json:"cursor,omitempty"`\n\t\t}{query, cursor}'
        : one,
    )
    lines.push(
      `fetch := func(cursor string) ([]${item}, *string, error) {`,
      `\tvar answer ${answer}`,
      `\terr := client.ask(ctx, call{${asked.join(', ')}}, &answer, options)`,
      `\treturn answer.${goName(items.field)}, answer.NextCursor, err`,
      '}',
      `return &Pages[${item}]{fetch: fetch}`,
    )
    return [
      ...declarations,
      `${said}func (client *Client) ${name}(${given}) *Pages[${item}] {\n${indented(lines)}\n}`,
    ].join('\n\n')
  }
  lines.push(
    `answer := new(${answer})`,
    `if err := client.ask(ctx, call{${parts.join(', ')}}, answer, options); err != nil {\n\t\treturn nil, err\n\t}`,
    'return answer, nil',
  )
  return [
    ...declarations,
    `${said}func (client *Client) ${name}(${given}) (*${answer}, error) {\n${indented(lines)}\n}`,
  ].join('\n\n')
}

/** The fields of several answers; a field that not all have is null if it is missing. */
function merged(
  answers: readonly ValueType[],
  byName: ReadonlyMap<string, Declared>,
): TypedField[] {
  const fields = answers.map((one) =>
    one.is === 'named' ? (byName.get(one.name)?.fields ?? []) : [],
  )
  const all = new Map(fields.flat().map((one) => [one.name, one]))
  return [...all.values()].map((one) => {
    const isEverywhere = fields.every((some) => some.some(({ name }) => name === one.name))
    return isEverywhere ? one : { ...one, type: { ...one.type, orNull: true } }
  })
}

const indented = (lines: readonly string[]) => lines.map((line) => `\t${line}`).join('\n')
const keywords = new Set(['type', 'range', 'func', 'map', 'var', 'import', 'package', 'default'])
const local = (name: string) => (keywords.has(name) ? `${name}Name` : name)

// As golint requires: initials stay together.
const initials = new Set([
  'id',
  'url',
  'html',
  'ip',
  'dns',
  'csv',
  'smtp',
  'tls',
  'json',
  'api',
  'spf',
  'dkim',
  'ttl',
  'mx',
])
const goName = (name: string) =>
  name
    .split(/(?=[A-Z])|[^A-Za-z0-9]+/)
    .map((word) => (initials.has(word.toLowerCase()) ? word.toUpperCase() : capital(word)))
    .join('')

const comment = (text: string, indent: string) => `${indent}// ${text.replace(/\s*\n\s*/g, ' ')}\n`
