import {
  allCommands,
  allOptions,
  type CommandNode,
  type OptionNode,
  type ValueNode,
} from './command-tree.js'

/** A function a command, each for zsh's own `_arguments`, which shows descriptions. */
export function zshCompletions(program: CommandNode): string {
  const functions = allCommands(program).map(({ node }) => functionOf(program, node))
  return `#compdef posthorn
# zsh completion of posthorn, made by 'posthorn completions zsh'

${functions.join('\n\n')}

# Sourced, it is known from then on; in a file _posthorn of $fpath, it is called at once.
if [ "$funcstack[1]" = _posthorn ]; then _posthorn "$@"; else compdef _posthorn posthorn; fi
`
}

/**
 * A function for each command, as zsh's `_arguments` wants: `-C` lets the state of a sub-command
 * begin at its own first word, `-s` allows short options together, `-S` ends options at `--`.
 */
function functionOf(program: CommandNode, node: CommandNode): string {
  const options = allOptions(program, node).map((option) => quoted(optionSpec(option)))
  if (node.children.length === 0) {
    const values = node.values.map((value, i) => quoted(valueSpec(value, i + 1)))
    return `${functionName(node)}() {
  _arguments -s -S ${[...options, ...values].join(' \\\n    ')}
}`
  }
  const listed = node.children.map(({ words: [word = ''], about }) => quoted(`${word}:${about}`))
  const cases = node.children.map(
    (child) => `        ${child.words.join(' | ')}) ${functionName(child)} ;;`,
  )
  const isProgram = node === program
  return `${functionName(node)}() {
  local curcontext=$curcontext context state state_descr line ret=1
  typeset -A opt_args
  _arguments -C ${[...options, quoted('1: :->command'), quoted('*:: :->argument')].join(' \\\n    ')} && ret=0
  case $state in
    command)
      local -a commands=(
        ${[...listed, ...(isProgram ? [quoted('help:show the help of a command')] : [])].join('\n        ')}
      )
      _describe -t commands command commands && ret=0${node.values.map(({ path }) => (path ? `\n      ${pathAction[path]} && ret=0` : '')).join('')}
      ;;
    argument)
      case $words[1] in
${cases.join('\n')}${isProgram ? `\n        help) ${functionName(node)} ;;` : ''}
        *) ret=1; false ;;
      esac && ret=0
      ;;
  esac
  return ret
}`
}

/** zsh takes no blank in a function's name; a hyphen would do, but looks foreign. */
const functionName = ({ name }: CommandNode) => `_${name.replaceAll(/[ -]/g, '_')}`

/** An option as `_arguments` wants it: `--name=[what it is]:value:what to offer`. */
function optionSpec({ names, about, value, isRepeatable }: OptionNode): string {
  // The short name of the few that have one is left out.
  const [name = ''] = names.slice(-1)
  const spec = `${isRepeatable ? '*' : ''}${name}`
  if (value === undefined) return `${spec}[${escaped(about)}]`
  // With the sign `=` the value may follow directly, or as the next word.
  return `${spec}=[${escaped(about)}]:${escaped(value.name)}:${actionOf(value)}`
}

/** An argument as `_arguments` wants it: its position, or `*` for all that follow. */
const valueSpec = (value: ValueNode, position: number) =>
  `${value.isVariadic ? '*' : position}:${escaped(value.name)}:${actionOf(value)}`

const pathAction = { file: '_files', directory: '_files -/' } as const

/** What zsh offers for a value. */
function actionOf({ choices, path }: ValueNode): string {
  if (choices.length > 0) return `(${choices.join(' ')})`
  // A blank shows only the message and offers nothing.
  return path === undefined ? ' ' : pathAction[path]
}

/** Brackets, colons and backslashes have a meaning within a spec. */
const escaped = (text: string) => text.replaceAll(/[[\]:\\]/g, '\\$&')

/**
 * In single quotes a shell knows no escape: a quote ends them, stands by itself, and begins them
 * again.
 */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
