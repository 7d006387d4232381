import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

t.test("SQLite's own words stand in the store alone", (t) => {
  const words = /json_each|sqlite_|\browid\b|\bpragma\b|better-sqlite3/i
  for (const name of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    if (name.startsWith('store/') || !name.endsWith('.ts')) continue
    const file = join('src', name)
    const code = withoutComments(readFileSync(file, 'utf8'))
    t.equal(words.exec(code)?.[0], undefined, file)
  }
  t.match('select rowid from x', words, 'the test can fail')
  t.end()
})

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
}
