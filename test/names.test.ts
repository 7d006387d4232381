import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import t from 'tap'

/*
 * One name has one meaning: who reads `Session` in one folder must not have met another one. The client library
 * stands apart: its names are those of the API, for people who never read this code.
 */
const folders = readdirSync('src').filter((name) => name !== 'client' && !name.includes('.'))

const filesOf = (folder: string) =>
  readdirSync(posix.join('src', folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => posix.join('src', folder, name))

/** By name, in which of the places it is declared. */
function namesOf(
  places: readonly string[],
  texts: (place: string) => readonly string[],
  pattern: RegExp,
): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>()
  for (const place of places) {
    for (const text of texts(place)) {
      for (const [, name = ''] of text.matchAll(pattern)) {
        names.set(name, (names.get(name) ?? new Set()).add(place))
      }
    }
  }
  return names
}

const shared = (names: ReadonlyMap<string, ReadonlySet<string>>) =>
  [...names].filter(([, of]) => of.size > 1).map(([name, of]) => `${name}: ${[...of].join(', ')}`)

t.test('no two files export a type of the same name', async (t) => {
  const declared = /^export (?:abstract )?(?:type|interface|class) (\w+)/gm
  const files = folders.flatMap(filesOf)
  const names = namesOf(files, (file) => [readFileSync(file, 'utf8')], declared)
  t.ok(names.size > 500, `${names.size} names were read`)
  t.same(shared(names), [])
})

t.test('no two folders offer a function of the same name', async (t) => {
  const doors = (folder: string) => {
    const door = posix.join('src', folder, 'index.ts')
    const text = existsSync(door) ? readFileSync(door, 'utf8') : ''
    // What a door passes on, a name a line, and what it declares itself.
    return [text.replaceAll(/\btype \w+( as \w+)?|\w+ as /g, '')].map((plain) =>
      [...plain.matchAll(/export \{([^}]*)\}/g)]
        .flatMap(([, list = '']) => list.split(','))
        .map((name) => `export const ${name.trim()}`)
        .concat(plain.match(/^export (?:async )?(?:function|const) \w+/gm) ?? [])
        .join('\n'),
    )
  }
  const names = namesOf(folders, doors, /^export (?:async )?(?:function|const) (\w+)/gm)
  t.ok(names.size > 300, `${names.size} names were read`)
  t.same(shared(names), [])
})
