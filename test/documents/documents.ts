import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** A fenced block of a document whose language is `sh`: commands that are pasted as they stand. */
export interface Block {
  file: string
  /** Of its first command, from 1. */
  line: number
  text: string
}

/** Every page that explains the product, its own folders of work left out. */
export const documents: readonly string[] = readdirSync('.', { recursive: true, encoding: 'utf8' })
  .filter((file) => /(^|\/)(README|CONTRIBUTING)\.md$/.test(file))
  .filter((file) => !/(^|\/)(node_modules|dist|\.build|\.tap|fixtures)\//.test(file))
  .sort()

export const read = (file: string) => readFileSync(file, 'utf8')

export function blocksOf(file: string): Block[] {
  const text = read(file)
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => ({
    file,
    line: text.slice(0, match.index).split('\n').length + 1,
    text: match[1] ?? '',
  }))
}

interface Known {
  /** Its usual name; `posthorn contacts` is `posthorn contact`. */
  name: string
  children: ReadonlySet<string>
  options: ReadonlySet<string>
}

/** What the command has, by the words that lead there, as the shell's completion knows it. */
export function knownCommands(program: string): ReadonlyMap<string, Known> {
  const { NODE_OPTIONS: _, ...env } = process.env
  const script = execFileSync(process.execPath, [program, 'completions', 'bash'], {
    encoding: 'utf8',
    env,
  })
  const lines = script.matchAll(/^ +'(posthorn[^)]*)'\) commands='([^']*)' options='([^']*)'/gm)
  const words = (text: string) => new Set(text.split(' ').filter((word) => word !== ''))
  return new Map(
    [...lines].flatMap(([, names = '', commands = '', options = '']) => {
      const all = names.split("' | '")
      const of = { name: all[0] ?? '', children: words(commands), options: words(options) }
      return all.map((name): [string, Known] => [name, of])
    }),
  )
}

/** The commands that a document names in its text and in its blocks, without what pipes follow. */
export function commandLines(file: string): string[] {
  const text = read(file).replaceAll('\\|', '|')
  const inline = [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`]+)`/g)]
  const shell = blocksOf(file).flatMap((block) => block.text.replaceAll('\\\n', ' ').split('\n'))
  return [...inline.map(([, code = '']) => code.replaceAll('\n', ' ')), ...shell]
    .flatMap((line) => line.split(/\$\(| \| | && |; /))
    .map((line) => line.replace(/ #.*/, '').trim())
    .filter((line) => /^(bin\/)?posthorn( |$)/.test(line))
    .map((line) => line.replace(/^bin\//, '').replace(/^posthorn help /, 'posthorn '))
}

/** All commands that a line may mean: `posthorn queue hold|release` are two. */
export function meant(known: ReadonlyMap<string, Known>, line: string): string[] {
  let names = ['posthorn']
  for (const word of line.split(/ +/).slice(1)) {
    const next = names.flatMap((name) => word.split('|').map((one) => `${name} ${one}`))
    if (!/^[a-z][a-z|-]*$/.test(word) || !next.every((name) => known.has(name))) break
    names = next
  }
  return names
}

/** What of a line the command does not have; undefined if it has all of it. */
export function unknownIn(known: ReadonlyMap<string, Known>, line: string): string | undefined {
  const names = meant(known, line)
  const depth = names[0]?.split(' ').length ?? 0
  const rest = line.split(/ +/).slice(depth)
  for (const name of names) {
    const of = known.get(name)
    const [next = ''] = rest
    if (of && of.children.size > 0 && /^[a-z]/.test(next)) return `${name} has no ${next}`
    const options = rest.join(' ').matchAll(/(?:^|[ [])(--[a-z][a-z-]*)/g)
    for (const [, option = ''] of options) {
      if (!of?.options.has(option)) return `${name} has no ${option}`
    }
  }
  return undefined
}
