import { Argument, type Command } from 'commander'
import { type CommandNode, commandTree } from './command-tree.js'
import { bashCompletions } from './completions-bash.js'
import { fishCompletions } from './completions-fish.js'
import { zshCompletions } from './completions-zsh.js'

const shells: Readonly<Record<string, (program: CommandNode) => string>> = {
  bash: bashCompletions,
  zsh: zshCompletions,
  fish: fishCompletions,
}

/** `posthorn completions SHELL`: writes the file; it starts nothing and reads no database. */
export function completionsCommand(program: Command): void {
  program
    .command('completions')
    .description('write what a shell needs to complete command lines, to stdout')
    .addArgument(new Argument('<shell>', 'whose completions').choices(Object.keys(shells)))
    .addHelpText(
      'after',
      `
Examples:
  $ eval "$(posthorn completions bash)"              in ~/.bashrc
  $ posthorn completions zsh > ~/.zfunc/_posthorn    with fpath+=(~/.zfunc) before compinit
  $ posthorn completions fish > ~/.config/fish/completions/posthorn.fish

The Debian package brings all three. They know commands, options and fixed values, and start nothing.`,
    )
    .action((shell: string, _options, command: Command) => {
      process.stdout.write(shells[shell]?.(commandTree(command)) ?? '')
    })
}
