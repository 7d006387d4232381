import { readFileSync } from 'node:fs'
import t from 'tap'
import { openTestStore } from '../support/store.js'

const readme = readFileSync(new URL('../../../src/retention/README.md', import.meta.url), 'utf8')

t.test('every table has its age, by what it goes or why it stays', async (t) => {
  const store = await openTestStore(t)
  const all = await store.read.introspection.getTables()
  const there = all.map(({ name }) => name).filter((name) => !/^(kysely|sqlite)_/.test(name))
  const [, table = ''] = readme.split('## The age of every table')
  const told = new Set(
    table
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .flatMap((line) => line.split('|')[1]?.match(/(?<=`)[a-z_]+(?=`)/g) ?? []),
  )
  t.ok(there.length > 60)
  const without = there.filter((name) => !told.has(name))
  t.same(without, [], 'tables without an age in src/retention/README.md: what grows has to go')
  t.same(
    [...told].filter((name) => !there.includes(name)),
    [],
    'no such tables',
  )
})
