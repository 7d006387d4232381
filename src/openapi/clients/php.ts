import type { ClientMethod, ClientModel } from './operations.js'
import { type Declared, type TypedField, type ValueType, variantsOf } from './types.js'

/** The PHP client: the core, with types (for PHPStan and editors) and methods of the document in it. */
export function printPhp(core: string, { version, methods, declared }: ClientModel): string {
  return core
    .replace('@VERSION@', version)
    .replace('<types>', () => declared.map(printDeclared).join('\n * '))
    .replace('    // <methods>', () => methods.map(printMethod).join('\n\n'))
}

function printDeclared(one: Declared): string {
  const { name, side, fields, is } = one
  if (fields === undefined) {
    return `@phpstan-type ${name} ${is === undefined ? 'mixed' : typeOf(is, side)}`
  }
  const variants = variantsOf(one)?.map((variant) => shapeOf(variant.fields, side))
  return `@phpstan-type ${name} ${variants?.join('|') ?? shapeOf(fields, side)}`
}

function shapeOf(fields: readonly TypedField[], side: Declared['side']): string {
  const all = fields.map(
    ({ name, type, needed }) => `${keyOf(name)}${needed ? '' : '?'}: ${typeOf(type, side)}`,
  )
  // A newer server may answer with more fields.
  return `array{${[...all, ...(side === 'out' ? ['...'] : [])].join(', ')}}`
}

const keyOf = (name: string) => (/^\w+$/.test(name) ? name : `'${name}'`)

function typeOf(type: ValueType, side: Declared['side']): string {
  const own = plainType(type, side)
  return type.orNull && own !== 'mixed' ? `${own}|null` : own
}

function plainType(type: ValueType, side: Declared['side']): string {
  switch (type.is) {
    case 'text':
      return 'string'
    case 'time':
      return side === 'in' ? 'string|\\DateTimeInterface' : 'string'
    case 'whole':
      return 'int'
    case 'number':
      return 'float|int'
    case 'flag':
      return 'bool'
    case 'any':
      return 'mixed'
    case 'words': {
      const isText = type.words.every((word) => typeof word === 'string')
      if (side === 'out' && isText) return 'string'
      return type.words
        .map((word) => (typeof word === 'string' ? `'${word}'` : String(word)))
        .join('|')
    }
    case 'list':
      return `list<${typeOf(type.of, side)}>`
    case 'map':
      return `array<string, ${typeOf(type.of, side)}>`
    case 'named':
      return type.name
    case 'either':
      return type.of.map((one) => typeOf(one, side)).join('|')
  }
}

function printMethod(method: ClientMethod): string {
  const { id, about, params, query, body, file, answers, items, path } = method
  const target =
    params.length === 0
      ? `'${path}'`
      : `self::path('${path}', ${params.map((one) => `$${one}`).join(', ')})`
  const queryShape = shapeOf(
    query.map((one) => ({ ...one, needed: false })),
    'in',
  )
  const docs = [
    about.replace(/\s*\n\s*/g, ' '),
    ...(body === undefined ? [] : [`@param ${typeOf(body, 'in')} $body`]),
    ...(query.length === 0 ? [] : [`@param ${queryShape} $query`]),
    '@param Options $options',
    `@return ${items === undefined ? answers.map((one) => typeOf(one, 'out')).join('|') : `Pages<${typeOf(items.of, 'out')}>`}`,
  ]
  const given = [
    ...params.map((one) => `string|int $${one}`),
    ...(body === undefined ? [] : ['array $body']),
    ...(file === undefined ? [] : ['string $file']),
    ...(query.length === 0 ? [] : ['array $query = []']),
    'array $options = []',
  ]
  const passed = [
    ...(query.length === 0 ? [] : ["'query' => $query"]),
    ...(body === undefined ? [] : ["'body' => $body"]),
    ...(file === undefined ? [] : [`'content' => self::form('${file}', $file)`]),
    '...$options',
  ]
  const asked = (some: readonly string[]) =>
    `$this->request('${method.method}', ${target}, [${some.join(', ')}])`
  const fetched = passed.map((one) =>
    one === "'query' => $query"
      ? "'query' => [...$query, ...($cursor === null ? [] : ['cursor' => $cursor])]"
      : one,
  )
  const result =
    items === undefined
      ? asked(passed)
      : `new Pages(fn (?string $cursor): array => ${asked(fetched)}, '${items.field}')`
  return [
    '    /**',
    ...docs.map((line) => `     * ${line.replaceAll('*/', '* /')}`),
    '     */',
    `    public function ${id}(${given.join(', ')}): ${items === undefined ? 'array' : 'Pages'}`,
    '    {',
    `        return ${result};`,
    '    }',
  ].join('\n')
}
