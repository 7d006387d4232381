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
