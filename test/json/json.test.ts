import t from 'tap'
import { isJsonObject, jsonObjectIn } from '../../src/json/index.js'

t.test('an object has names: null and lists are none', async (t) => {
  for (const value of [{}, { a: 1 }, Object.create(null)]) t.ok(isJsonObject(value))
  for (const value of [null, undefined, [], [1], 'a', 1, true]) t.notOk(isJsonObject(value))
})

t.test('the object in a text, or nothing', async (t) => {
  t.same(jsonObjectIn('{"a":[1]}'), { a: [1] })
  for (const text of ['', '{', '[]', 'null', '1', '"a"']) t.equal(jsonObjectIn(text), undefined)
})
