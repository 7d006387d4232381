import t from 'tap'
import { jsonFingerprint } from '../../src/http/index.js'
import { parseJsonObject } from '../../src/http/json-body.js'
import { scanJson, withoutRepeats } from '../../src/http/json-scan.js'
import { seededRandom } from '../mime/random-mail.js'
import { thoroughly } from '../support/thorough.js'

const file = (letter: string) => `${letter}"\\\n😀`.repeat(1_500)

t.test('a batch that repeats its files is parsed as if they were given once', async (t) => {
  const emails = Array.from({ length: 100 }, (_, i) => ({
    to: `r${i}@one.test`,
    text: '',
    attachments: [
      { content: file('a') },
      { content: file('bc') },
      { content: `${i}`.repeat(3_000) },
    ],
  }))
  const body = { emails, [file('a')]: [file('a'), [file('bc')]], null: null }
  const text = Buffer.from(JSON.stringify(body))
  const shortened = scanJson(text, 10_000)
  t.ok((shortened?.bytes.length ?? text.length) < text.length / 3)
  t.same(parseJsonObject(Buffer.concat([text, Buffer.alloc(2_000_000, ' ')])), body)
  t.equal(scanJson(text, 400), undefined, 'their values count')
})

t.test('a text that repeats strings is the same JSON as without the search for them', async (t) => {
  const a = JSON.stringify('a'.repeat(5_000))
  const space = ' '.repeat(2_100_000)
  const lone = `"\\ud83d${'x'.repeat(5_000)}"`
  for (const text of [
    `{"x":${a},"x":${a},"y":[[${a}]]}`,
    `{"__proto__":${a},"constructor":[${a},{"__proto__":${a}}]}`,
    `{${a} \n:${a},"b":{${a}:${a}}}`,
    `{"x":${lone},"y":${lone}}`,
    `\ufeff{"x":${a},"y":${a}}`,
  ]) {
    t.same(parseJsonObject(Buffer.from(text + space)), JSON.parse(text.replace(/^\ufeff/, '')))
  }
  for (const text of [
    `{"x":${a},"y":${a}`,
    `{"x":${a}${a}}`,
    `{"x":${a},"y":${a.slice(0, -1)}`,
    `{"x":${a.replace('aa', '\n')},"y":${a.replace('aa', '\n')}}`,
    `{"x":${a.replace('aa', '\\q')},"y":${a.replace('aa', '\\q')}}`,
  ]) {
    t.throws(() => parseJsonObject(Buffer.from(text + space)), { message: /^Malformed JSON/ })
  }
  t.throws(() => parseJsonObject(Buffer.from(`[${a},${a}]${space}`)), /must be a JSON object/)
})

t.test('a batch that carries one text to many is parsed as if it were given once', async (t) => {
  const emails = Array.from({ length: 100 }, (_, i) => ({
    to: `r${i}@one.test`,
    subject: `Mail ${i}`,
    html: file('a'),
    text: file('b'),
  }))
  const text = Buffer.from(JSON.stringify({ emails }).replaceAll('😀', 'x'))
  t.ok(withoutRepeats(text).bytes.length < text.length / 20)
  t.same(parseJsonObject(text), JSON.parse(text.toString()))
})

t.test('whatever repeats in a text, its value is that of JSON.parse', async (t) => {
  const random = seededRandom(21)
  const one = <T>(list: readonly T[]): T => list[random(list.length)] as T
  let [values, shorter] = [0, 0]
  const rounds = thoroughly(300, 1_500)
  for (let round = 0; round < rounds; round++) {
    const [letter, inner] = [one(['a', 'é', '😀']), one(['', '\\"', '\\\\', '\\n', ', ', ':'])]
    const long = `${inner}${letter.repeat(4_200 + random(3))}${inner}`
    // What stands between two strings, and is long as well.
    const gap = `,${' 5,'.repeat(1_400)}`
    const parts = [
      `"${long}"`,
      `"${long}"`,
      `{"a":"${long}"}`,
      `{"${long}":1}`,
      `["${long}", "${long}"]`,
      `"x\\"${long}"`,
      `"x\\\\"`,
      `"a"${gap}"b"`,
      `"${gap}"`,
      `"${long}${long}"`,
      `"\\u00e9${long}"`,
      `"${long.slice(1)}"`,
      '1',
      'null',
      '"x"',
      '{"__proto__":"y"}',
      // No JSON, now and then.
      ...(random(20) === 0 ? [`"${long}`, `"${long}""${long}"`, '"\n"', `"${long}\\q"`] : []),
    ]
    const count = 20 + random(40)
    const items = Array.from({ length: count }, () =>
      one(random(2) === 0 ? parts : parts.slice(0, 3)),
    )
    const text = `{"emails":[${items.join(one([',', ', ', ',\n']))}]}`
    const bytes = Buffer.from(text)
    if (withoutRepeats(bytes).bytes.length < bytes.length / 2) shorter++
    const told = (parse: () => unknown) => {
      try {
        return JSON.stringify(parse())
      } catch {
        return 'no JSON'
      }
    }
    const expected = told(() => JSON.parse(bytes.toString()))
    if (expected !== 'no JSON') values++
    if (told(() => parseJsonObject(bytes)) !== expected) t.fail(`round ${round}`)
  }
  t.ok(values > rounds / 2 && values < rounds, `${values} of ${rounds} are JSON`)
  t.ok(shorter > rounds / 3, `${shorter} of them were parsed without their repeats`)
})

t.test('what nearly repeats is left where it is', async (t) => {
  // Escaped quotes in a row: all but the first character of the string stands behind each of them.
  const text = `{"a":"x${'\\"'.repeat(30_000)}","b":"${'\\"'.repeat(900_000)}"}`
  const bytes = Buffer.from(text)
  t.equal(withoutRepeats(bytes).bytes, bytes)
  t.same(parseJsonObject(bytes), JSON.parse(text))
})

t.test(
  'a text in which every second octet begins like a string is not searched to its end',
  async (t) => {
    const long = (times: number) => `"${'\\"'.repeat(times)}"`
    const bytes = Buffer.from(`[${[2_100, 2_101, 2_102, 2_103, 1_000_000].map(long).join()}]`)
    let searches = 0
    const search = bytes.indexOf.bind(bytes) as (...asked: unknown[]) => number
    bytes.indexOf = (...asked: unknown[]) => {
      searches++
      return search(...asked)
    }
    t.equal(withoutRepeats(bytes).bytes, bytes)
    t.ok(searches > 0 && searches < 10_000, `${searches} searches`)
  },
)

t.test('many long strings of one length that differ are left where they are', async (t) => {
  const strings = Array.from(
    { length: 600 },
    (_, i) => 'x'.repeat(5_000) + String(i).padStart(3, '0'),
  )
  const body = { strings: [...strings, ...strings] }
  t.same(parseJsonObject(Buffer.from(JSON.stringify(body))), body)
})

t.test('bodies have one fingerprint if, and only if, they repeat the same files', async (t) => {
  const [a, b] = ['a'.repeat(70_000), 'b'.repeat(70_000)]
  const bodies = [
    { x: [a, a, b, b], y: '' },
    { x: [a, a, b, a], y: '' },
    { x: [a, a, b, ''], y: b },
    { x: [a, '', b, b], y: a },
    { x: [a, a, b, b], y: a },
    { x: [a, '', b, ''], y: '' },
  ]
  const of = (body: object) => jsonFingerprint('/x', body, Buffer.alloc(0))
  t.equal(new Set(bodies.map(of)).size, bodies.length)
  t.equal(of({ y: '', x: [a, a, b, b] }), of({ x: [a, a, b, b], y: '' }))
})
