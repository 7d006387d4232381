// Issue 42, 2: 'Do the same by' lines of pages name commands that the command tree has, with options that they take.
// Their requests are made of the contract (`shell/api-call.ts`), which the compiler holds them to, in views too.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import t from 'tap'
import { commands } from '../../src/cli/index.js'

const root = 'src/dashboard'
const program = new Command('posthorn')
for (const load of Object.values(commands)) (await load())(program)

/** What is wrong with a command line, or undefined. */
function faultIn(line: string): string | undefined {
  const [first, ...words] = line.split(/\s+/)
  if (first !== 'posthorn') return `begins with ${first}`
  let command = program
  for (const word of words) {
    const next = command.commands.find((one) => [one.name(), ...one.aliases()].includes(word))
    if (next === undefined) break
    command = next
  }
  if (command === program) return 'no such command'
  const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0
  const hasDefault = command.commands.some(
    (one) => Reflect.get(command, '_defaultCommandName') === one.name(),
  )
  if (isGroup && !hasDefault) return `${command.name()} needs a sub-command`
  const known = [...command.options, ...program.options].flatMap(({ long, short }) => [long, short])
  const global = ['--json', '--data', '--config', '--quiet']
  const option = words.find(
    (word) =>
      /^--?[a-z]/.test(word) && !known.includes(word.replace(/=.*/, '')) && !global.includes(word),
  )
  return option === undefined ? undefined : `no option ${option}`
}

const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.(ejs|ts)$/.test(name),
)
let lines = 0
for (const name of files) {
  const text = readFileSync(join(root, name), 'utf8')
  // What is filled in may have braces and quotes of its own, one level deep.
  const plain = text.replaceAll(/\$\{(?:[^{}`]|`[^`]*`)*\}/g, (filled) =>
    /\?/.test(filled) ? '' : 'X',
  )
  for (const [, ticked, single, double] of plain.matchAll(
    /\bcli: (?:\n\s*)?(?:`([^`]*)`|'([^'\n]*)'|"([^"\n]*)")/g,
  )) {
    const value = ticked ?? single ?? double ?? ''
    for (const written of value.split(/\\n|\n/)) {
      // Filled in right behind a word: a query, or options, that may be none.
      const line = written.replaceAll(/(?<=[a-z])X\b/g, '')
      lines++
      if (line.startsWith('posthorn ')) t.equal(faultIn(line), undefined, `${name}: ${line}`)
    }
  }
}
t.ok(lines > 100, `${lines} lines`)
