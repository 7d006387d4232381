import { spawnSync } from 'node:child_process'
import t from 'tap'
import { cliEntry } from '../support/process.js'
import { blocksOf, commandLines, documents, knownCommands, meant, unknownIn } from './documents.js'

/* What the documents say of commands is held against the commands themselves. */
t.setTimeout(120_000)

const known = knownCommands(cliEntry)

t.test('every command that a document names is there, with its options', async (t) => {
  t.ok(known.size > 100, `${known.size} commands`)
  const lines = documents.flatMap((file) => commandLines(file).map((line) => ({ file, line })))
  t.ok(lines.length > 100, `${lines.length} lines`)
  t.same(
    lines.flatMap(({ file, line }) => {
      const fault = unknownIn(known, line)
      return fault === undefined ? [] : [`${file}: ${line}: ${fault}`]
    }),
    [],
  )
})

t.test('bin/README.md names every command', async (t) => {
  const lines = commandLines('bin/README.md').flatMap((line) => meant(known, line))
  const named = new Set(lines.map((name) => known.get(name)?.name))
  const last = [...known.values()].filter(({ children }) => children.size === 0)
  t.same(
    last.filter(({ name }) => !named.has(name)).map(({ name }) => name),
    [],
  )
})

t.test('commands stand in blocks that say so, and the shell understands these', async (t) => {
  for (const file of documents) {
    for (const { line, text } of blocksOf(file)) {
      const { stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' })
      t.equal(stderr, '', `${file}:${line}`)
    }
  }
})
