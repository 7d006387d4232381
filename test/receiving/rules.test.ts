import t from 'tap'
import {
  deciding,
  fitsLocal,
  isCovered,
  patternIn,
  writtenPattern,
} from '../../src/receiving/rule.js'

t.test('a pattern is an address, a beginning or all, and is written as it was read', async (t) => {
  const host = (name: string) => name
  for (const given of ['a@b.test', 'support+*@b.test', '*@b.test', "o'neil@b.test"]) {
    t.equal(writtenPattern(patternIn(given, host)), given)
  }
  t.equal(writtenPattern(patternIn(' A.B@C.Test ', host)), 'a.b@c.test')
  for (const given of [
    '',
    '@b.test',
    'a@',
    'a',
    'a*b@c.test',
    '**@c.test',
    'a@*',
    'a b@c.test',
    `${'x'.repeat(65)}@b.test`,
  ]) {
    t.throws(() => patternIn(given, host), /is no pattern/, given)
  }
})

t.test('of any rules the first that fits decides, and none where none fits', async (t) => {
  // A linear congruential generator: the same numbers each time.
  let state = 7
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  const word = () =>
    Array.from({ length: Math.floor(random() * 4) }, () => pick(['a', 'b', '+'])).join('')
  for (let round = 0; round < 2_000; round++) {
    const rules = Array.from({ length: Math.floor(random() * 6) }, () => ({
      kind: pick(['address', 'prefix', 'all'] as const),
      local: word(),
    }))
    const local = word()
    // Nothing is left for a rule that another covers.
    const [one, by] = rules
    if (one !== undefined && by !== undefined && isCovered(one, by)) {
      if (fitsLocal(one, local) && !fitsLocal(by, local)) t.fail(JSON.stringify({ one, by, local }))
    }
    const found = deciding(rules, local)
    const before = found === undefined ? rules : rules.slice(0, rules.indexOf(found))
    if (found !== undefined && !fitsLocal(found, local)) t.fail(JSON.stringify({ rules, local }))
    if (before.some((rule) => fitsLocal(rule, local))) t.fail(JSON.stringify({ rules, local }))
  }
})
