// Issue 42, 1: every file of the operator's is read with the same manners.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadPlans } from '../../src/billing/index.js'
import { loadConfig, packageFile } from '../../src/config/index.js'
import { loadShaping } from '../../src/outbound/shaping/index.js'
import { loadBounceRules, loadFeedbackLoops } from '../../src/reports/index.js'
import { nearestOf } from '../../src/toml/nearest.js'
import { lineOf } from '../../src/toml/place.js'
import { openFile, quoted } from '../../src/toml/problems.js'
import { loadTrackingAgents } from '../../src/tracking/index.js'
import { makeTempDir } from '../support/store.js'

const folder = makeTempDir(t)

/** What is said of a text. */
function said(load: (file: string) => unknown, text: string): string {
  const file = join(folder, 'given.toml')
  writeFileSync(file, text)
  try {
    load(file)
  } catch (error) {
    if (error instanceof Error) return error.message
  }
  return 'nothing'
}

const readers: [what: string, load: (file: string) => unknown, text: string, ...says: string[]][] =
  [
    [
      'settings',
      (file) => loadConfig({ file, env: {} }),
      '[http.private]\nprot = 1\n[Outbound]\nthreads = 2\n',
      'http.private.prot: no such setting; is http.private.port meant?',
      '(line 2)',
      '[Outbound]: no such table; is [outbound] meant?',
      '(line 3)',
    ],
    [
      'plans',
      loadPlans,
      '[[email]]\nname = "A"\nmonthly_mail = 3\n[[Marketing]]\n',
      'plan "A": monthly_mail: no such key; is monthly_mails meant?',
      '(line 3)',
      '[[Marketing]]: no such table; is [[marketing]] meant?',
      '(line 4)',
    ],
    [
      'shaping',
      (file) => loadShaping([packageFile('config/shaping.toml'), file]),
      '\n[provider.x]\n[providers.google]\nConnections = 3\n',
      '[provider]: no such table; is [providers] meant?',
      '[providers.google]: Connections: no such key; is connections meant?',
      '(line 4)',
    ],
    [
      'bounce rules',
      (file) => loadBounceRules([packageFile('config/bounce-rules.toml'), file]),
      '[[text]]\nname = "a"\nclas = "mailbox"\n[Code]\n',
      '[[text]] "a": clas: no such key; is class meant?',
      '(line 3)',
      '[Code]: no such table; is [code] meant?',
    ],
    [
      'feedback loops',
      (file) => loadFeedbackLoops([file]),
      '[[loops]]\nname = "a"\n[[loops]]\nname = "b"\ndomain = ["x.example"]\n',
      '[[loops]] "b": domain: no such key; is domains meant?',
      '(line 5)',
    ],
    [
      'tracking agents',
      (file) => loadTrackingAgents([file]),
      '[[agents]]\nname = "a"\ncontain = ["x"]\n[[agent]]\nname = "b"\n',
      '[[agents]] "a": contain: no such key; is contains meant?',
      '(line 3)',
      '[[agent]]: no such table; is [[agents]] meant?',
      '(line 4)',
    ],
  ]

for (const [what, load, text, ...says] of readers) {
  t.test(`${what}: what is misspelt has a line and a suggestion`, (t) => {
    const message = said(load, text)
    for (const one of says) t.match(message, one)
    t.end()
  })
}

t.test('a suggestion is close, or there is none', (t) => {
  const known = ['monthly_mails', 'mx', 'tls', 'heloName']
  t.equal(nearestOf('montly_mails', known), 'monthly_mails')
  t.equal(nearestOf('Monthly-Mails', known), 'monthly_mails')
  t.equal(nearestOf('tsl', known), 'tls', 'letters that have changed places are one mistake')
  t.equal(nearestOf('tlss', known), 'tls')
  t.equal(nearestOf('my', known), undefined)
  t.equal(nearestOf('colour', known), undefined)
  t.equal(nearestOf('x'.repeat(100_000), known), undefined, 'in no time')
  t.end()
})

t.test('a long value is cut between words', (t) => {
  t.equal(quoted('short'), '"short"')
  t.equal(quoted(undefined), 'nothing')
  const words = quoted('one two three four five six seven eight '.repeat(4))
  t.match(words, /^"one.* (one|two|three|four|five|six|seven|eight) …$/)
  t.ok(words.length <= 80)
  t.match(quoted('x'.repeat(200)), /^"x{70,} …$/, 'one word alone is cut all the same')
  t.end()
})

t.test('lines of a file, also in hostile forms', (t) => {
  const text = [
    'a.b = 1',
    '["x y".z] # why',
    "'k' = [",
    '  1,',
    ']',
    '[[l]]',
    'v = 1',
    '[[l]]',
    'v = { w = 2 }',
    '[l.below]',
    'c = 3',
  ].join('\n')
  t.equal(lineOf(text, ['a', 'b']), 1)
  t.equal(lineOf(text, ['x y', 'z', 'k']), 3)
  t.equal(lineOf(text, ['l', 0, 'v']), 7)
  t.equal(lineOf(text, ['l', 1, 'v', 'w']), 9, 'that of the table that it is in')
  t.equal(lineOf(text, ['l', 1, 'below', 'c']), 11)
  t.equal(lineOf(text, ['nowhere']), undefined)
  const file = openFile('x.toml', 'x', `s = "${'= '.repeat(50_000)}"`)
  const before = performance.now()
  file.problem(['s'], 'bad')
  t.ok(performance.now() - before < 1_000)
  t.throws(() => file.refuseBad('Bad'), /bad \(line 1\)/)
  t.end()
})
