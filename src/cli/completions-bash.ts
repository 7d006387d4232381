import { allCommands, allOptions, type CommandNode, type ValueNode } from './command-tree.js'

/** For bash 4 or later, without the package bash-completion. */
export function bashCompletions(program: CommandNode): string {
  const known = allCommands(program)
  return `# bash completion of posthorn, made by 'posthorn completions bash'

# What there is at a command: its sub-commands, its options, those of them that take a value.
_posthorn_at() {
  case $1 in
${known.map(({ node, names }) => `    ${patterns(names)}) ${atCommand(program, node)} ;;`).join('\n')}
    *) return 1 ;;
  esac
}

# What an option, or with '' an argument of a command may be.
_posthorn_value() {
  case $1 in
${known.flatMap(({ node, names }) => valueCases(node, names)).join('\n')}
  esac
}

_posthorn() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} path=posthorn
  local commands options valued word i
  COMPREPLY=()
  _posthorn_at "$path"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case $word in
      help | = | --) ;;
      -*) case " $valued " in *" $word "*) ((i++)) && [ "\${COMP_WORDS[i]}" = = ] && ((i++)) ;; esac ;;
      *) _posthorn_at "$path $word" && path="$path $word" ;;
    esac
  done
  # '--class=x' is three words.
  if [ "$cur" = = ]; then cur=; elif [ "$prev" = = ]; then prev=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  case " $valued " in *" $prev "*) _posthorn_value "$path $prev"; return ;; esac
  case $cur in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur") ;;
    *)
      _posthorn_value "$path "
      mapfile -t -O \${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$commands" -- "$cur")
      ;;
  esac
}

complete -F _posthorn posthorn
`
}

/**
 * Three shell variables for a node: what may follow it, its options, and which of these take the
 * next word as their value.
 */
function atCommand(program: CommandNode, node: CommandNode): string {
  const options = allOptions(program, node)
  const names = (of: typeof options) => of.flatMap((option) => option.names).join(' ')
  const children = node.children.map(({ words: [word] }) => word)
  return [
    `commands='${[...children, ...(node === program ? ['help'] : [])].join(' ')}'`,
    `options='${names(options)}'`,
    `valued='${names(options.filter(({ value }) => value !== undefined))}'`,
  ].join(' ')
}

/** A case for each option and argument that has something to offer. */
function valueCases(node: CommandNode, names: readonly string[]): string[] {
  const ofOptions = node.options.map(({ names: own, value }) => [own, value] as const)
  const ofArguments = node.values.map((value) => [[''], value] as const)
  return [...ofOptions, ...ofArguments].flatMap(([own, value]) => {
    const reply = value && replyOf(value)
    if (reply === undefined) return []
    // The options of the whole program stand after every command.
    const isGlobal = !node.name.includes(' ') && own[0] !== ''
    const words = own.flatMap((word) =>
      isGlobal ? [word] : names.map((name) => `${name} ${word}`),
    )
    return [
      `    ${isGlobal ? words.map((word) => `*' ${word}'`).join(' | ') : patterns(words)}) ${reply} ;;`,
    ]
  })
}

/** `mapfile` keeps names with blanks in one piece, which `COMPREPLY=($(…))` would not. */
function replyOf({ choices, path }: ValueNode): string | undefined {
  const fill = (what: string) => `mapfile -t COMPREPLY < <(compgen ${what} -- "$cur")`
  if (choices.length > 0) return fill(`-W '${choices.join(' ')}'`)
  if (path === undefined) return undefined
  return `compopt -o filenames 2>/dev/null; ${fill(path === 'file' ? '-f' : '-d')}`
}

/** The names that lead to a command, as a pattern of `case`. */
const patterns = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' | ')
