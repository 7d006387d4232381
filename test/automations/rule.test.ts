import t from 'tap'
import { type Facts, fieldOf } from '../../src/automations/definition/field.js'
import { judge } from '../../src/automations/definition/rule.js'
import type { Json, JsonObject } from '../../src/json/index.js'
import {
  hasText,
  type Operator,
  type Rule,
  ruleHolds,
  type Variable,
} from '../../src/rules/index.js'
import { seeded } from '../shaping/seeded.js'

const facts = (payload: Json): Facts => ({
  contact: {
    id: 'c1',
    email: 'ada@example.test',
    firstName: 'Ada',
    lastName: null,
    phone: null,
    metadata: { plan: 'pro', tags: ['a', 'b'], since: '2026-03-01' },
    createdAt: Date.parse('2026-01-02T03:04:05Z'),
  },
  trigger: { id: 1, name: 'x', payload, at: 0 },
  event: { id: 2, name: 'y', payload: { cart: 'A' }, at: 0 },
  waits: [{ key: 'paid', event: { id: 2, name: 'y', payload: { total: 5 }, at: 0 } }],
  mail: (key) =>
    key === 'hello' ? { opened: true, clicked: false, delivered: true, bounced: false } : undefined,
  now: Date.parse('2026-03-31T00:00:00Z'),
})
const holds = (rule: Rule, payload: Json = {}) => {
  const given = facts(payload)
  const field = (path: string) => fieldOf(given, path)
  const { holds } = judge(rule, given)
  // The short judge has the same answer.
  if (ruleHolds(rule, { field, now: given.now }) !== holds) throw new Error('two judges differ')
  return holds
}

const missing = Symbol('missing')
type Row = [Json | typeof missing, Operator, Json | Variable | undefined, boolean]
const table: Row[] = [
  [1, 'eq', 1, true],
  [1, 'eq', '1', false],
  ['1', 'eq', 1, false],
  [0, 'eq', false, false],
  [null, 'eq', null, true],
  [null, 'eq', false, false],
  [{ a: [1, 2] }, 'eq', { a: [1, 2] }, true],
  [[1, 2], 'eq', [2, 1], false],
  ['A', 'eq', { var: 'event.cart' }, true],
  ['B', 'eq', { var: 'event.cart' }, false],
  ['A', 'eq', { var: 'event.none' }, false],
  ['A', 'neq', { var: 'event.none' }, true],
  [1, 'neq', 1, false],
  [1, 'neq', '1', true],
  [2, 'gt', 1, true],
  [1, 'gt', 1, false],
  [1, 'gte', 1, true],
  ['2', 'gt', 1, false],
  [2, 'gt', '1', false],
  ['b', 'gt', 'a', false],
  [true, 'gt', 0, false],
  [null, 'lt', 1, false],
  [1, 'lt', 2, true],
  [1, 'lte', 1, true],
  ['2026-03-01', 'gt', '2026-02-28', true],
  ['2026-03-01T00:00:00Z', 'gte', '2026-03-01', true],
  ['2026-03-01T00:30:00+01:00', 'lt', '2026-03-01', true],
  ['2026-03-01T00:00:00', 'gte', '2026-03-01', false],
  ['2028-02-29', 'lt', '2028-03-01', true],
  ['2026-03-02', 'within', 'P30D', true],
  ['2026-03-01', 'within', 'P30D', false],
  ['2026-04-01', 'within', 'P30D', false],
  ['2026-03-01', 'not_within', 'P30D', true],
  ['soon', 'within', 'P30D', false],
  [missing, 'within', 'P30D', false],
  [missing, 'not_within', 'P30D', true],
  ['2026-02-29', 'lt', '2026-03-01', false],
  ['2026-13-01', 'lt', '2027-03-01', false],
  ['1 March 2026', 'lt', '2027-03-01', false],
  ['2026-03-01', 'eq', '2026-03-01T00:00:00Z', false],
  [2, 'in', [1, 2], true],
  ['2', 'in', [1, 2], false],
  [null, 'in', [null], true],
  ['b', 'in', { var: 'contact.metadata.tags' }, true],
  ['b', 'in', { var: 'contact.metadata.plan' }, false],
  ['hello', 'contains', 'ell', true],
  ['hello', 'contains', 'ELL', false],
  [['x', 1], 'contains', 1, true],
  [['x', 1], 'contains', '1', false],
  [{ x: 1 }, 'contains', 'x', false],
  [12, 'contains', 1, false],
  ['hello', 'not_contains', 'ell', false],
  ['hello', 'not_contains', 'z', true],
  [12, 'not_contains', 1, true],
  ['hello', 'starts_with', 'he', true],
  ['hello', 'starts_with', 'lo', false],
  ['hello', 'ends_with', 'lo', true],
  [['he'], 'starts_with', 'he', false],
  [0, 'exists', undefined, true],
  ['', 'exists', undefined, true],
  [null, 'exists', undefined, false],
  ['', 'is_empty', undefined, true],
  [[], 'is_empty', undefined, true],
  [{}, 'is_empty', undefined, true],
  [null, 'is_empty', undefined, true],
  [0, 'is_empty', undefined, false],
  [false, 'is_empty', undefined, false],
  [missing, 'eq', null, false],
  [missing, 'neq', 1, true],
  [missing, 'gt', 0, false],
  [missing, 'gte', 0, false],
  [missing, 'lt', 0, false],
  [missing, 'lte', 0, false],
  [missing, 'in', [null], false],
  [missing, 'contains', 'a', false],
  [missing, 'not_contains', 'a', true],
  [missing, 'starts_with', '', false],
  [missing, 'ends_with', '', false],
  [missing, 'exists', undefined, false],
  [missing, 'is_empty', undefined, true],
]

t.test('each operator compares as its row says, and converts nothing but dates', async (t) => {
  for (const [actual, operator, value, expected] of table) {
    const payload: JsonObject = actual === missing ? {} : { x: actual }
    const rule = { field: 'trigger.x', operator, ...(value === undefined ? {} : { value }) }
    const shown = `${actual === missing ? 'missing' : JSON.stringify(actual)} ${operator}`
    t.equal(holds(rule, payload), expected, `${shown} ${JSON.stringify(value) ?? ''}`)
  }
})

t.test('all, any and not join rules', async (t) => {
  const yes: Rule = { field: 'contact.firstName', operator: 'eq', value: 'Ada' }
  const no: Rule = { not: yes }
  t.equal(holds({ all: [yes, yes] }), true)
  t.equal(holds({ all: [yes, no] }), false)
  t.equal(holds({ any: [no, yes] }), true)
  t.equal(holds({ any: [no, no] }), false)
  t.equal(holds({ not: no }), true)
})

t.test('fields are found where they are named, and own properties only', async (t) => {
  const payload = JSON.parse('{"a.b":1,"items":[{"sku":"z"}],"__proto__":{"up":1},"text":"abc"}')
  const rows: [string, Json | undefined][] = [
    ['contact.id', 'c1'],
    ['contact.email', 'ada@example.test'],
    ['contact.lastName', null],
    ['contact.createdAt', '2026-01-02T03:04:05.000Z'],
    ['contact.metadata.tags.1', 'b'],
    ['contact.metadata.none', undefined],
    ['contact.email.length', undefined],
    ['contact.constructor', undefined],
    ['contact.metadata.constructor', undefined],
    ['contact.metadata.__proto__', undefined],
    ['trigger.items.0.sku', 'z'],
    ['trigger.items.1.sku', undefined],
    ['trigger.items.length', undefined],
    ['trigger.items.map', undefined],
    ['trigger.text.length', undefined],
    ['trigger.text.0', undefined],
    // It is the payload's own there, as JSON.parse makes it.
    ['trigger.__proto__.up', 1],
    ['trigger.up', undefined],
    ['trigger.toString', undefined],
    ['trigger.a.b', undefined],
    ['event.cart', 'A'],
    ['waits.paid.total', 5],
    ['waits.other.total', undefined],
    ['waits.constructor.name', undefined],
    ['email.hello.opened', true],
    ['email.hello.clicked', false],
    ['email.hello.bounced', false],
    ['email.hello.constructor', undefined],
    ['email.none.opened', undefined],
    ['process.env', undefined],
    ['', undefined],
  ]
  for (const [path, expected] of rows) t.same(fieldOf(facts(payload), path), expected, path)
})

t.test('the answer says with what each part was compared', async (t) => {
  const rule: Rule = {
    any: [
      { field: 'trigger.cart', operator: 'eq', value: { var: 'event.cart' } },
      { not: { field: 'contact.metadata.none', operator: 'exists' } },
    ],
  }
  t.same(judge(rule, facts({ cart: 'B' })), {
    holds: true,
    any: [
      { holds: false, field: 'trigger.cart', operator: 'eq', actual: 'B', value: 'A' },
      {
        holds: true,
        not: { holds: false, field: 'contact.metadata.none', operator: 'exists' },
      },
    ],
  })
})

t.test('hostile payloads are compared as they were given', async (t) => {
  // As deep as 16 KiB can be: deeper than the stack of JSON.stringify.
  const deep = (): Json => JSON.parse('['.repeat(8_000) + ']'.repeat(8_000))
  const [nested, copy] = [deep(), deep()]
  t.equal(holds({ field: 'trigger.x', operator: 'eq', value: copy }, { x: nested }), true)
  t.equal(holds({ field: 'trigger.x', operator: 'eq', value: [copy] }, { x: nested }), false)
  t.equal(holds({ field: 'trigger.x', operator: 'is_empty' }, { x: nested }), false)
  const half = JSON.parse('"\\ud800"')
  t.equal(holds({ field: 'trigger.x', operator: 'eq', value: half }, { x: half }), true)
  t.equal(holds({ field: 'trigger.x', operator: 'eq', value: '\ufffd' }, { x: half }), false)
  const large = JSON.parse('9007199254740993')
  t.equal(holds({ field: 'trigger.x', operator: 'gt', value: 2 ** 53 - 1 }, { x: large }), true)
  const own = JSON.parse('{"__proto__":1}')
  t.equal(holds({ field: 'trigger.x', operator: 'eq', value: {} }, { x: own }), false)
  t.equal(holds({ field: 'trigger.x', operator: 'is_empty' }, { x: own }), false)
  t.equal(Object.hasOwn(Object.prototype, 'up'), false)
})

t.test('a payload is taken apart once, however many parts of rules compare it', (t) => {
  let reads = 0
  const counted = (items: Json[]): Json[] =>
    new Proxy(items, {
      get(target, name, receiver) {
        reads += 1
        return Reflect.get(target, name, receiver)
      },
    })
  const payload = { a: counted([1, { b: [2], c: 3 }, 'x']), b: counted([1, { c: 3, b: [2] }, 'x']) }
  const rules: Rule[] = [
    { field: 'trigger.a', operator: 'eq', value: { var: 'trigger.b' } },
    { field: 'trigger.a', operator: 'contains', value: { c: 3, b: [2] } },
    { field: 'trigger.a.0', operator: 'in', value: { var: 'trigger.b' } },
  ]
  for (const rule of rules) t.equal(holds(rule, payload), true)
  const once = reads
  for (let times = 0; times < 100; times += 1) {
    t.equal(holds({ field: 'trigger.a', operator: 'contains', value: [9] }, payload), false)
    t.equal(holds({ field: 'trigger.a', operator: 'eq', value: payload.b }, payload), true)
    t.equal(holds({ field: 'contact.id', operator: 'in', value: payload.b }, payload), false)
  }
  t.equal(reads, once)
  t.end()
})

t.test('long texts are searched as short ones are', (t) => {
  const random = seeded(7)
  const text = (length: number) =>
    Array.from({ length }, () => 'ab'[Math.floor(random() * 1.2)] ?? 'b').join('')
  for (let times = 0; times < 300; times += 1) {
    const whole = text(2_000 + times)
    const part = times % 2 === 0 ? whole.slice(900, 920 + times) : text(10 + times)
    t.equal(hasText(whole, part), whole.includes(part), part)
  }
  t.equal(hasText('a'.repeat(8_000), `${'a'.repeat(4_000)}b`), false)
  t.equal(hasText(`${'a'.repeat(8_000)}b`, `${'a'.repeat(4_000)}b`), true)
  t.end()
})

t.test('texts are compared whatever their case where the rule says so', async (t) => {
  const town = (rule: object) =>
    holds({ field: 'trigger.town', ...rule } as Rule, { town: 'LAGOS', all: ['Ÿ'] })
  t.equal(town({ operator: 'eq', value: 'Lagos' }), false)
  t.equal(town({ operator: 'eq', value: 'Lagos', ignoreCase: true }), true)
  t.equal(town({ operator: 'in', value: ['Lagos'], ignoreCase: true }), true)
  t.equal(town({ operator: 'starts_with', value: 'lag', ignoreCase: true }), true)
  t.equal(town({ operator: 'neq', value: 'lagos', ignoreCase: true }), false)
})
