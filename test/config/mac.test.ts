import { createHmac, randomBytes } from 'node:crypto'
import t from 'tap'
import { makeMac } from '../../src/config/index.js'

t.test('a MAC is the one that node makes', async (t) => {
  const key = randomBytes(32)
  const mac = makeMac(key, 200)
  for (const length of [0, 1, 40, 63, 64, 65, 119, 200]) {
    const bytes = randomBytes(length)
    t.equal(mac(bytes).toString('hex'), createHmac('sha256', key).update(bytes).digest('hex'))
  }
  t.throws(() => mac(randomBytes(201)), RangeError)
  t.throws(() => makeMac(randomBytes(65), 200), RangeError)
})
