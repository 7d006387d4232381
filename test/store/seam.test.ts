import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

t.test("SQLite's own words stand in its folder alone", (t) => {
  const words =
    /json_each|sqlite_|\browid\b|\bpragma\b|better-sqlite3|savepoint|begin immediate|-wal\b|-shm\b/i
  for (const name of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    if (name.startsWith('store/sqlite/') || !name.endsWith('.ts')) continue
    const file = join('src', name)
    const code = withoutComments(readFileSync(file, 'utf8'))
    t.equal(words.exec(code)?.[0], undefined, file)
  }
  t.match('select rowid from x', words, 'the test can fail')
  t.end()
})

t.test('what one engine alone understands is said by a fragment', (t) => {
  // In this order: `is` with a bound value, `like` in any case, and functions that PostgreSQL has by another name.
  const words =
    /'is(?: not)?',(?! null)|, '(?:not )?like', [^l]|fn(?:<[^(]*>)?\('(?:instr|max|min|ifnull|iif|group_concat)'|limit -1/
  for (const name of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    if (/^(?:store|dashboard\/browser|dashboard\/segments)\//.test(name) || !name.endsWith('.ts'))
      continue
    const file = join('src', name)
    t.equal(words.exec(withoutComments(readFileSync(file, 'utf8')))?.[0], undefined, file)
  }
  for (const bad of [
    `.where('a', 'is', b)`,
    `.where('a', 'like', b)`,
    `fn<number>('max', [a, b])`,
  ]) {
    t.match(bad, words, 'the test can fail')
  }
  t.end()
})

t.test('few files of the store know the engine', (t) => {
  const files = readdirSync('src/store').filter((name) => name.endsWith('.ts'))
  const knowing = files.filter((name) =>
    readFileSync(join('src/store', name), 'utf8').includes("from './sqlite/"),
  )
  // The door, what an error means, and the way to the present schema.
  t.same(knowing.sort(), ['fault.ts', 'index.ts', 'migrate.ts'])
  t.end()
})

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
}
