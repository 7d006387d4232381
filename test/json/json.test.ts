import t from 'tap'
import { isJsonObject, jsonObjectIn, numberFault } from '../../src/json/index.js'

t.test('an object has names: null and lists are none', async (t) => {
  for (const value of [{}, { a: 1 }, Object.create(null)]) t.ok(isJsonObject(value))
  for (const value of [null, undefined, [], [1], 'a', 1, true]) t.notOk(isJsonObject(value))
})

t.test('the object in a text, or nothing', async (t) => {
  t.same(jsonObjectIn('{"a":[1]}'), { a: [1] })
  for (const text of ['', '{', '[]', 'null', '1', '"a"']) t.equal(jsonObjectIn(text), undefined)
})

t.test('a number that JSON readers change is named, however deep it stands', async (t) => {
  const faultIn = (json: string) => numberFault('variables', JSON.parse(json))
  for (const json of ['{"a":9007199254740991,"b":-9007199254740991,"c":1e-9,"d":"1e400"}', '{}']) {
    t.equal(faultIn(json), undefined, json)
  }
  t.match(faultIn('{"a":9007199254740992}'), /^variables\.a: numbers beyond .*send it as text/)
  t.match(faultIn('{"a":[{"b c":-1e400}]}'), /^variables\.a\[0\]\.b c: /)
  t.match(faultIn('9007199254740993'), /^variables: /)
  const deep = `${'['.repeat(200_000)}1e22${']'.repeat(200_000)}`
  t.match(faultIn(deep), /^variables\[0\]\[0\]/, 'deeper than the stack')
})
