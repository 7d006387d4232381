import t from 'tap'
import { differences } from '../../src/templates/index.js'

/** What the differences make of the text before, where nothing is left out. */
const after = (before: string, text: string) => {
  const lines = differences(before, text)
  const kept = lines.filter(({ kind }) => kind === 'same' || kind === 'added')
  const gone = lines.filter(({ kind }) => kind === 'same' || kind === 'removed')
  const joined = (some: typeof lines) =>
    some.map((one) => ('line' in one ? one.line : '')).join('\n')
  return { after: joined(kept), before: joined(gone) }
}

t.test('the differences of two texts lead from one to the other', async (t) => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed % below
  }
  for (let round = 0; round < 300; round++) {
    const text = () => Array.from({ length: 1 + random(6) }, () => 'abc'[random(3)]).join('\n')
    const [one, other] = [text(), text()]
    if (one === other || differences(one, other).some(({ kind }) => kind === 'gap')) continue
    t.same(after(one, other), { before: one, after: other }, JSON.stringify([one, other]))
  }
})

t.test('the fewest lines are shown as changed, and what is far from them is a gap', async (t) => {
  const lines = Array.from({ length: 20 }, (_, n) => String(n))
  const changed = lines.toSpliced(10, 1, 'ten')
  t.same(differences(lines.join('\n'), changed.join('\n')), [
    { kind: 'gap', lines: 7 },
    ...['7', '8', '9'].map((line) => ({ kind: 'same', line })),
    { kind: 'removed', line: '10' },
    { kind: 'added', line: 'ten' },
    ...['11', '12', '13'].map((line) => ({ kind: 'same', line })),
    { kind: 'gap', lines: 6 },
  ])
  t.same(differences('a', 'a'), [])
  t.same(differences('', 'a'), [{ kind: 'added', line: 'a' }])
})

t.test('texts that have nothing in common take no time, and HTML in one line is cut', async (t) => {
  const [one, other] = [1, 2].map((n) => Array.from({ length: 50_000 }, (_, i) => i * 2 + n))
  t.equal(differences(one?.join('\n') ?? '', other?.join('\n') ?? '').length > 50_000, true)
  const minified = Array.from({ length: 100 }, (_, n) => `<p>${n}</p>`).join('')
  const changed = differences(minified, minified.replace('<p>50</p>', '<p>fifty</p>'))
  t.equal(changed.filter(({ kind }) => kind === 'added').length, 1)
})
