import { allCommands, type CommandNode, type OptionNode, type ValueNode } from './command-tree.js'

const heading = `/*
 * Made by bin/made-types from the commands at each build: change those in src/cli, not this.
 * By each name that can be typed behind \`posthorn\`: the values that it takes, in order, and its options.
 */
type Value = string | number
type Given = Value | undefined
type Flag = boolean | undefined
`

/** The TypeScript source of src/dashboard/shell/commands.ts: what each command takes, and under '' what all take. */
export function makeCommandTypes(program: CommandNode): string {
  const lines = allCommands(program)
    .map(({ node }) => node)
    .filter((node) => node === program || node.children.length === 0 || node.values.length > 0)
    .map((node) => {
      const name = node.name.split(' ').slice(1).join(' ')
      const options = node.options.filter(({ names }) => !names.includes('--help'))
      return `  '${name}': { ${[...valuesOf(node), ...options.map(optionType)].join('; ')} }\n`
    })
  return `${heading}\nexport interface Commands {\n${lines.join('')}}\n`
}

function valuesOf({ values }: CommandNode): readonly string[] {
  if (values.length === 0) return []
  const some = values.map((value) => {
    const type = `(${typeOf(value, 'Value')})`
    return value.isVariadic ? `...${type}[]` : `${type}${value.isOptional ? '?' : ''}`
  })
  return [`of${values.every(({ isOptional }) => isOptional) ? '?' : ''}: [${some.join(', ')}]`]
}

function optionType({ names, value, isRepeatable }: OptionNode): string {
  const name = (names.at(-1) ?? '').slice(2)
  const key = name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  const one = value === undefined ? 'Flag' : typeOf(value, 'Given')
  return `${key}?: ${one}${isRepeatable ? ' | readonly string[]' : ''}`
}

/** What may stand for a value: one of its choices, or any. */
const typeOf = ({ choices }: ValueNode, any: 'Value' | 'Given'): string =>
  choices.length === 0
    ? any
    : [...choices.map((one) => `'${one}'`), ...(any === 'Given' ? ['undefined'] : [])].join(' | ')
