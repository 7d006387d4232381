import type { ClientMethod, ClientModel } from './operations.js'
import { type Declared, type TypedField, type ValueType, variantsOf } from './types.js'

/** The Python client: the core, with types and methods of the document in it. */
export function printPython(core: string, { version, methods, declared }: ClientModel): string {
  return core
    .replace('@VERSION@', version)
    .replace('# <types>', () => declared.flatMap(printDeclared).join('\n'))
    .replace('    # <methods>', () => methods.map(printMethod).join('\n\n'))
}

/** A TypedDict in its functional form: fields may be named `from`, which a class cannot have. */
function printDeclared(one: Declared): string[] {
  const { name, side, about, fields, is } = one
  const said = about === undefined ? [] : [`# ${oneLine(about)}`]
  if (fields === undefined)
    return [...said, `${name} = ${is === undefined ? 'Any' : quoted(typeOf(is, side))}`]
  const dict = (own: string, some: readonly TypedField[]) => {
    const lines = some.map((one) => `    ${quoted(one.name)}: ${quoted(fieldType(one, side))},`)
    return `${own} = TypedDict("${own}", {\n${lines.join('\n')}\n})`
  }
  const variants = variantsOf(one)
  if (variants === undefined) return [...said, dict(name, fields)]
  // `html` or `template`: a type for each, so that a checker refuses both at once.
  const dicts = variants.map(({ key, fields: some }) => dict(`${name}_${key}`, some))
  const names = variants.map(({ key }) => `${name}_${key}`)
  return [...said, ...dicts, `${name} = Union[${names.join(', ')}]`]
}

const fieldType = ({ type, needed }: TypedField, side: Declared['side']) => {
  const own = typeOf(type, side)
  return needed ? own : `NotRequired[${own}]`
}

function typeOf(type: ValueType, side: Declared['side']): string {
  const own = plainType(type, side)
  return type.orNull && own !== 'Any' ? `Optional[${own}]` : own
}

function plainType(type: ValueType, side: Declared['side']): string {
  switch (type.is) {
    case 'text':
      return 'str'
    case 'time':
      return side === 'in' ? 'Union[str, datetime]' : 'str'
    case 'whole':
      return 'int'
    case 'number':
      return 'float'
    case 'flag':
      return 'bool'
    case 'any':
      return 'Any'
    case 'words':
      return wordsOf(type.words, side)
    case 'list':
      return `List[${typeOf(type.of, side)}]`
    case 'map':
      return `Dict[str, ${typeOf(type.of, side)}]`
    case 'named':
      return type.name
    case 'either':
      return `Union[${type.of.map((one) => typeOf(one, side)).join(', ')}]`
  }
}

/** In answers any value of the type, as a newer server may have other words. */
function wordsOf(words: readonly (string | number | boolean)[], side: Declared['side']): string {
  const isText = words.every((word) => typeof word === 'string')
  if (side === 'out' && isText) return 'str'
  const all = words.map((word) =>
    typeof word === 'boolean' ? (word ? 'True' : 'False') : JSON.stringify(word),
  )
  return `Literal[${all.join(', ')}]`
}

function printMethod(method: ClientMethod): string {
  const { id, about, params, query, body, file, answers, items, path } = method
  const name = snake(id)
  const filled = `_path("${path}"${params.map((one) => `, ${snake(one)}`).join('')})`
  const target = params.length === 0 ? `"${path}"` : filled
  const given = [
    ...params.map((one) => `${snake(one)}: Union[str, int]`),
    ...(body === undefined ? [] : [`body: ${typeOf(body, 'in')}`]),
    ...(file === undefined ? [] : ['file: Union[bytes, str]']),
    ...(query.length === 0 ? [] : ['query: Optional[Mapping[str, Any]] = None']),
  ]
  const options = [
    ...(method.method === 'POST' ? ['idempotency_key: Optional[str] = None'] : []),
    'timeout: Optional[float] = None',
    'retries: Optional[int] = None',
  ]
  const passed = [
    ...(query.length === 0 ? [] : ['query=query']),
    ...(body === undefined ? [] : ['body=body']),
    ...(file === undefined ? [] : [`content=_form("${file}", file)`]),
    ...(method.method === 'POST' ? ['idempotency_key=idempotency_key'] : []),
    'timeout=timeout',
    'retries=retries',
  ]
  const answer =
    items === undefined
      ? answers.length > 1
        ? `Union[${answers.map((one) => typeOf(one, 'out')).join(', ')}]`
        : answers.map((one) => typeOf(one, 'out')).join('')
      : `Pages[${typeOf(items.of, 'out')}]`
  const names = query.length === 0 ? '' : ` \`query\`: ${query.map((one) => one.name).join(', ')}.`
  const head = `    def ${name}(${['self', ...given, '*', ...options].join(', ')}) -> ${answer}:`
  const doc = `        """${oneLine(about)}.${names}"""`
  if (items === undefined) {
    return `${head}\n${doc}\n        return self.request("${method.method}", ${[target, ...passed].join(', ')})`
  }
  const fetched = passed.map((one) => (one === 'query=query' ? 'query=_page(query, cursor)' : one))
  return `${head}\n${doc}\n        return Pages(lambda cursor: self.request("${method.method}", ${[target, ...fetched].join(', ')}), "${items.field}")`
}

const oneLine = (text: string) =>
  text
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('\\', '\\\\')
    .replaceAll('"""', "'''")
const quoted = (text: string) => JSON.stringify(text)
const snake = (text: string) => text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
