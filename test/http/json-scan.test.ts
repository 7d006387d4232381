import t from 'tap'
import { jsonFingerprint } from '../../src/http/index.js'
import { parseJsonObject } from '../../src/http/json-body.js'
import { scanJson } from '../../src/http/json-scan.js'

const file = (letter: string) => `${letter}"\\\n😀`.repeat(1_500)

t.test('a batch that repeats its files is parsed as if they were given once', async (t) => {
  const emails = Array.from({ length: 100 }, (_, i) => ({
    ...{ to: `r${i}@one.test`, text: '' },
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
