import t from 'tap'
import { keepNewest } from '../../src/bounded/index.js'

t.test('a bounded map forgets what was set longest ago', async (t) => {
  const map = new Map<string, number>()
  for (const [at, key] of ['a', 'b', 'a', 'c'].entries()) keepNewest(map, key, at, 2)
  t.same(
    [...map],
    [
      ['a', 2],
      ['c', 3],
    ],
  )
  keepNewest(map, 'd', 4, 1)
  t.same([...map], [['d', 4]])
})

t.test('a large map is gone through from its front once in many keys', (t) => {
  let begun = 0
  class Counted<K, V> extends Map<K, V> {
    override keys(): MapIterator<K> {
      begun++
      return super.keys()
    }
  }
  const map = new Counted<number, string>()
  for (let key = 0; key < 160; key++) keepNewest(map, key, '', 160)
  t.same([map.size, begun], [160, 0], 'as long as there is room not at all')
  for (let key = 160; key < 1_600; key++) keepNewest(map, key, '', 160)
  t.ok(begun <= 144, `${begun} times`)
  t.ok(map.size > 149 && map.size <= 160, `${map.size} are kept`)
  t.same([...map.entries()].at(-1), [1_599, ''], 'the newest among them')
  t.end()
})
