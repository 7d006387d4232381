import t from 'tap'
import { restFactor } from '../../src/retention/slices.js'

t.test('the busier the machine, the longer retention rests', async (t) => {
  t.equal(Math.round(restFactor(1)), 4, 'a fifth of the time while all is idle')
  t.ok(restFactor(0.7) > 8, 'a tenth beside some load')
  t.equal(Math.round(restFactor(0)), 49, 'a fiftieth when nothing is idle: it never stands still')
  for (let idle = 1; idle > 0.1; idle -= 0.1) {
    t.ok(restFactor(idle - 0.1) >= restFactor(idle), `${idle}`)
  }
})
