import { allCommands, allOptions, type CommandNode, type ValueNode } from './command-tree.js'

/** One function that fish asks for everything; what it prints has descriptions behind a tab. */
export function fishCompletions(program: CommandNode): string {
  const known = allCommands(program)
  const help = ['help', 'show the help of a command'] as const
  const cases = (lines: (node: CommandNode, names: readonly string[]) => string | undefined) =>
    known
      .flatMap(({ node, names }) => {
        const line = lines(node, names)
        return line === undefined
          ? []
          : [`        case ${names.map(quoted).join(' ')}\n            ${line}`]
      })
      .join('\n')
  return `# fish completion of posthorn, made by 'posthorn completions fish'

# The sub-commands of a command; fails where there is no such command.
function __posthorn_commands
    switch $argv[1]
${cases((node) =>
  described([
    ...node.children.map(({ words: [word = ''], about }) => [word, about] as const),
    ...(node === program ? [help] : []),
  ]),
)}
        case '*'
            return 1
    end
end

function __posthorn_options
    switch $argv[1]
${cases((node) =>
  described(
    allOptions(program, node).flatMap(({ names, about }) =>
      names.map((name) => [name, about] as const),
    ),
  ),
)}
    end
end

# What an option, or with '' an argument may be; fails where the option takes no value.
function __posthorn_value
    switch "$argv[1] $argv[2]"
${known.flatMap(({ node, names }) => valueCases(node, names)).join('\n')}
        case '*'
            return 1
    end
end

function __posthorn_complete
    set -l at posthorn
    set -l option
    for word in (commandline -opc)[2..]
        if test -n "$option"
            set option
            continue
        end
        switch $word
            case '-*'
                __posthorn_value $at $word >/dev/null; and set option $word
            case '*'
                __posthorn_commands "$at $word" >/dev/null; and set at "$at $word"
        end
    end
    set -l current (commandline -ct)
    if test -n "$option"
        __posthorn_value $at $option
    else if string match -qr '^--[^=]+=' -- $current
        set option (string split -m 1 = -- $current)[1]
        string replace -r '^' -- "$option=" (__posthorn_value $at $option)
    else if string match -q -- '-*' $current
        __posthorn_options $at
    else
        __posthorn_commands $at
        __posthorn_value $at ''
    end
end

complete -c posthorn -e
complete -c posthorn -f -a '(__posthorn_complete)'
`
}

/**
 * Fish wants a word and what it means in one line with a tab between; an empty list has to be
 * `true`, as printf without arguments prints an empty word.
 */
const described = (entries: readonly (readonly [word: string, about: string])[]) =>
  entries.length === 0
    ? 'true'
    : `printf '%s\\t%s\\n' ${entries.map(([word, about]) => `${word} ${quoted(about)}`).join(' ')}`

/**
 * A case for each option that takes a value, also where fish has nothing to offer:
 * `__posthorn_value` fails only for an option without a value.
 */
function valueCases(node: CommandNode, names: readonly string[]): string[] {
  const ofOptions = node.options.flatMap(({ names: own, value }) =>
    value === undefined ? [] : [[own, value] as const],
  )
  // One case for all arguments of a command: the first that has something to offer.
  const ofArguments = node.values
    .filter(({ choices, path }) => choices.length > 0 || path !== undefined)
    .map((value) => [[''], value] as const)
  return [...ofOptions, ...ofArguments].map(([own, value]) => {
    // The options of the whole program stand after every command.
    const isGlobal = !node.name.includes(' ') && own[0] !== ''
    const words = own.flatMap((word) =>
      (isGlobal ? ['*'] : names).map((name) => quoted(`${name} ${word}`)),
    )
    return `        case ${words.join(' ')}\n            ${replyOf(value)}`
  })
}

/** Fish has functions of its own for paths, which follow `~` and variables. */
function replyOf({ choices, path }: ValueNode): string {
  if (choices.length > 0) return `printf '%s\\n' ${choices.join(' ')}`
  if (path === undefined) return 'true'
  return path === 'file' ? '__fish_complete_path (commandline -ct)' : '__fish_complete_directories'
}

/** In single quotes fish knows two escapes. */
const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`
