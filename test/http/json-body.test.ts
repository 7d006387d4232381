import t from 'tap'
import { parseJsonObject } from '../../src/http/json-body.js'

const parse = (text: string) => parseJsonObject(Buffer.from(text))

t.test('a body has at most 200,000 values, wherever they stand', async (t) => {
  const tooMany = { code: 'validation_error', status: 413, fields: { max: 200_000 } }
  // Over the bytes that are not counted at all.
  const many = 1_100_000
  for (const text of [
    `{"a":[${'0,'.repeat(many)}0]}`,
    `{"a":[${'{},'.repeat(many)}{}]}`,
    `{"a":${'['.repeat(many)}${']'.repeat(many)}}`,
    `{${Array.from({ length: 300_000 }, (_, i) => `"${i}":"x"`).join()}}`,
    `[${'{"":'.repeat(many)}`,
  ]) {
    t.throws(() => parse(text), tooMany, text.slice(0, 20))
  }
  const spaced = `{"a":[${' 0,'.repeat(100_000)}0]${' '.repeat(2_000_000)}}`
  t.same((parse(spaced).a as unknown[]).length, 100_001)
})

t.test('what stands in strings does not count', async (t) => {
  for (const html of [
    ',[{'.repeat(200_000),
    '\\'.repeat(300_001),
    '"'.repeat(300_000),
    `${'\\"'.repeat(100_000)},[{`.repeat(3),
    // Runs that are passed by a search, with what ends them or seems to.
    ...['\\', '\\\\', '"', '\\"', '\\\\"'].map((end) =>
      `${'x'.repeat(1_030)}${end},[{`.repeat(2_500),
    ),
  ]) {
    const { html: read } = parse(JSON.stringify({ html, subject: 'x,[{' }))
    t.equal(read, html)
  }
})

t.test('a fault is located near the beginning, and said to be far else', async (t) => {
  const faultOf = (text: string) => {
    try {
      parse(text)
    } catch (error) {
      return (error as Error).message
    }
    return undefined
  }
  t.equal(faultOf('{"a":\n  x}'), 'Malformed JSON: line 2, column 3: expected a value')
  const far = 'Malformed JSON: the fault is far from its beginning'
  t.equal(faultOf(`{"a":[${'0,'.repeat(100_000)}!]}`), far)
  t.equal(faultOf(`{"html":"${'x'.repeat(2_000_000)}"!}`), far)
  t.equal(faultOf(`{"html":"${'x'.repeat(2_000_000)}`), far)
})

t.test('a text reads the same however large it is, and whatever characters it has', async (t) => {
  for (const characters of ['plain', 'à la ÿ', '€ and 😀, \u{10ffff}']) {
    for (const times of [1, 30_000, 90_000, 240_000]) {
      const text = `${characters}"\\ `.repeat(times)
      t.ok(parse(`\uFEFF${JSON.stringify({ text })}`).text === text, `${times} of ${characters}`)
    }
  }
  const cut = Buffer.from(JSON.stringify({ text: '€'.repeat(500_000) }))
  cut[cut.length - 3] = 0x22
  t.throws(() => parseJsonObject(cut), { message: 'The body is not valid UTF-8' })
})
