import t from 'tap'
import { counted, shownBytes, shownCount, shownNumber } from '../../src/amounts/index.js'

t.test('counts have commas, and their noun in the right number', async (t) => {
  t.equal(shownCount(1_204), '1,204')
  t.equal(counted(0, 'contact'), '0 contacts')
  t.equal(counted(1, 'contact'), '1 contact')
  t.equal(counted(1_204, 'contact'), '1,204 contacts')
  t.equal(counted(1, 'delivery', 'deliveries'), '1 delivery')
  t.equal(counted(2, 'delivery', 'deliveries'), '2 deliveries')
})

t.test('bytes are shown in the unit that has few figures', async (t) => {
  const KiB = 1_024
  for (const [bytes, shown] of [
    [0, '0 KiB'],
    [KiB, '1 KiB'],
    [103 * KiB ** 2, '103 MiB'],
    [0.9 * KiB ** 3, '921 MiB'],
    [12.39 * KiB ** 3, '12.3 GiB'],
    [2_048 * KiB ** 4, '2048.0 TiB'],
  ] as const) {
    t.equal(shownBytes(bytes), shown)
  }
})

t.test('other numbers have three figures or more', async (t) => {
  for (const [value, shown] of [
    [0, '0'],
    [0.25, '0.25'],
    [12.34, '12.3'],
    [4_500, '4,500'],
  ] as const) {
    t.equal(shownNumber(value), shown)
  }
})
