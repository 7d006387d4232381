import type { Commands } from './commands.js'

/** A command as people type it. Only `command` makes one. */
export interface CommandLine {
  readonly command: keyof Commands
  readonly text: string
}

/** What the command is given: `of` has its values in order, `into` the file for its output; the rest are options. */
type Given<Name extends keyof Commands> = Commands[Name] & Commands[''] & { into?: string }

/** The line of a command, for any shell. The compiler refuses what src/cli does not have, in views too. */
export function command<Name extends keyof Commands>(
  name: Name,
  ...[given]: object extends Commands[Name] ? [given?: Given<Name>] : [given: Given<Name>]
): CommandLine {
  const { of = [], into, ...options } = (given ?? {}) as { of?: readonly unknown[]; into?: string }
  const words = [
    ...of.map(quoted),
    ...Object.entries(options).flatMap(([key, value]) => optionWords(key, value)),
    ...(into === undefined ? [] : ['>', quoted(into)]),
  ]
  return { command: name, text: ['posthorn', name, ...words].join(' ') }
}

/** `createdAfter` as `--created-after`, with its value or before each of them. */
function optionWords(key: string, given: unknown): readonly string[] {
  const flag = `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  if (given === true) return [flag]
  if (given === undefined || given === false || given === '') return []
  return [given].flat().flatMap((value) => [flag, quoted(value)])
}

/** The value quoted for a shell, whatever is in it. */
function quoted(value: unknown): string {
  const text = String(value)
  return /^[\w@.:/+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
