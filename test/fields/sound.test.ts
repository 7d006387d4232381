import {
  array,
  boolean,
  define,
  dynamic,
  enums,
  integer,
  lazy,
  nullable,
  object,
  optional,
  record,
  refine,
  type Struct,
  size,
  string,
  tuple,
  type,
  union,
} from 'superstruct'
import t from 'tap'
import { sendBody } from '../../src/emails/send-body.js'
import { atLeastOne, noOthers } from '../../src/fields/field.js'
import { check, isSound, rule, structOf } from '../../src/fields/index.js'
import { described, listOf } from '../../src/fields/kinds.js'
import { seededRandom } from '../mime/random-mail.js'

const SendBody = structOf(sendBody)
type Shape = Struct<unknown, unknown>
const names = ['a', 'b', 'c', 'toString']

/** Shapes and values of few kinds, so that a random value often fits a random shape. */
function generator(seed: number) {
  const random = seededRandom(seed)
  const one = <T>(list: readonly T[]): T => list[random(list.length)] as T
  const some = () => names.filter(() => random(2) === 0)
  const fieldsOf = <T>(make: () => T) => Object.fromEntries(some().map((name) => [name, make()]))

  function shape(depth: number): Shape {
    const inner = () => shape(depth - 1)
    const leaves = [
      () => string(),
      () => boolean(),
      () => size(string(), 1, 3),
      () => described(size(integer(), 0, 5), 'a small number'),
      () => rule('anything but undefined', (value) => value !== undefined),
      () => enums(['x', 'yy']),
      () => define('never', () => false),
    ]
    if (depth === 0) return one(leaves)() as Shape
    const fields = () => fieldsOf(() => (random(2) === 0 ? optional(inner()) : inner()))
    const all = [
      () => type(fields()),
      () => type(fields()),
      () => object(fields()),
      () => optional(inner()),
      () => nullable(inner()),
      () => array(inner()),
      () => listOf(inner(), 2, random(2)),
      () => tuple([inner(), inner()]),
      () => record(string(), inner()),
      () => union([inner(), inner()]),
      () => atLeastOne(type(fields())),
      () => noOthers(type(fields())),
      () => described(type(fields()), 'an object'),
      () => refine(type(fields()), 'two', (value) => Object.keys(value as object).length < 2),
      () => {
        const [list, other] = [array(inner()), inner()]
        return dynamic((value) => (Array.isArray(value) ? list : other) as Struct)
      },
      () => {
        const made = inner()
        return lazy(() => made)
      },
    ]
    return one(all)() as Shape
  }

  function value(depth: number): unknown {
    const leaf = one([null, undefined, true, 0, 3, 9.5, '', 'x', 'yy', 'long', '\0'])
    if (depth === 0 || random(4) === 0) return leaf
    if (random(3) === 0) return Array.from({ length: random(4) }, () => value(depth - 1))
    return fieldsOf(() => value(depth - 1))
  }

  return { random, one, shape, value }
}

/** What superstruct says; it throws where it cannot print what it refuses. */
function isFit(value: unknown, shape: Shape): boolean {
  try {
    return shape.is(value)
  } catch {
    return false
  }
}

/** What differs from superstruct, if anything: in the answer, or in what the request goes on with. */
function differs(value: unknown, shape: Shape): boolean {
  const before = JSON.stringify(value)
  const sound = isSound(value, shape)
  if (sound !== isFit(value, shape)) return true
  return JSON.stringify(value) !== before || (sound && check(value, shape) !== value)
}

t.test('a value is sound if superstruct takes it, and is then what it was', async (t) => {
  const make = generator(14)
  let sound = 0
  for (let i = 0; i < 1_500; i++) {
    const shape = make.shape(3)
    for (let j = 0; j < 10; j++) {
      const value = make.value(3)
      if (differs(value, shape)) t.fail(`shape ${i}, value ${j}: ${JSON.stringify(value)}`)
      if (isSound(value, shape)) sound++
    }
  }
  t.ok(sound > 500, `${sound} of 15000 fit`)
})

t.test('a null that would be left out is never sound', async (t) => {
  const shape = type({ a: optional(string()), b: array(type({ c: optional(string()) })) })
  for (const value of [{ a: null, b: [] }, { b: [{ c: null }] }]) t.notOk(isSound(value, shape))
  t.same(check({ a: null, b: [{ c: null }] }, shape), { b: [{}] })
  const taken = type({ a: optional(nullable(string())) })
  t.ok(isSound({ a: null }, taken))
  t.same(check({ a: null }, taken), { a: null })
})

t.test('sends, good and broken in one place or two, are judged as superstruct does', async (t) => {
  const make = generator(15)
  const address = () => make.one(['a@b.test', 'Ann <a@B.test>', 'nobody', 'a@b', '"a b"@c.test'])
  const several = () =>
    make.random(2) ? address() : Array.from({ length: make.random(4) }, address)
  const text = () => make.one(['x', '', ' ', 'nul\0', 'line\n', 'lone \ud800', 'é'.repeat(600)])
  const tag = () => ({ name: make.one(['a', 'b', 'ü']), value: make.one(['x', text()]) })
  const makers: Record<string, () => unknown> = {
    from: address,
    to: several,
    cc: several,
    bcc: several,
    replyTo: several,
    subject: text,
    html: text,
    text,
    template: text,
    scheduledAt: text,
    topicId: text,
    headers: () => make.one([{}, { 'X-A': text() }, { 'X-A': 1 }, []]),
    tags: () => make.one<unknown>([[], [tag(), tag()], Array.from({ length: 12 }, tag), 2]),
    metadata: () => make.one([{}, { a: text() }, 'x'.repeat(20_000), { a: 'x'.repeat(20_000) }]),
    variables: () => make.value(2),
    type: () => make.one(['transactional', 'marketing', 'other']),
    attachments: () => make.value(2),
    unknown: () => make.value(2),
  }
  let sound = 0
  for (let i = 0; i < 8_000; i++) {
    const send: Record<string, unknown> = {
      from: 'a@b.test',
      to: 'c@d.test',
      subject: 's',
      html: 'h',
    }
    for (let change = make.random(3); change > 0; change--) {
      const name = make.one(Object.keys(makers))
      if (make.random(8) === 0) delete send[name]
      else send[name] = make.random(8) === 0 ? make.value(2) : makers[name]?.()
    }
    if (differs(send, SendBody as unknown as Shape)) t.fail(`send ${i}: ${JSON.stringify(send)}`)
    if (isSound(send, SendBody)) sound++
  }
  t.ok(sound > 2_000 && sound < 6_000, `${sound} of 8000 are sound`)
})

t.test('what nests without end is not sound, and does no harm', async (t) => {
  const deep: Shape = lazy(() => array(deep) as Shape)
  let value: unknown = []
  for (let i = 0; i < 100_000; i++) value = [value]
  t.notOk(isSound(value, deep))
})
