import t from 'tap'
import { chancesToBeHighest } from '../../src/broadcasts/chance.js'

t.test('the chance that one share is higher, by the Beta distributions of both', async (t) => {
  const chancesOf = (...shares: [number, number][]) =>
    chancesToBeHighest(shares.map(([did, of]) => ({ did, of })))
  const chance = (b: [number, number], a: [number, number]) => chancesOf(b, a)[0] ?? 0
  const near = (value: number, expected: number, within = 1e-6) =>
    t.ok(Math.abs(value - expected) < within, `${value} is about ${expected}`)
  near(chance([0, 0], [0, 0]), 0.5)
  // Beta(2, 1) against Beta(1, 1): the integral of x · 2x, and one less that.
  near(chance([1, 1], [0, 0]), 2 / 3)
  near(chance([0, 1], [0, 0]), 1 / 3)
  // Beta(2, 1) against Beta(1, 2): the integral of (1 − (1 − x)²) · 2x.
  near(chance([1, 1], [0, 1]), 5 / 6)
  for (const [b, a] of [
    [
      [17, 118],
      [9, 118],
    ],
    [
      [300, 5_000],
      [301, 4_000],
    ],
    [
      [3, 9],
      [30, 33],
    ],
  ] as [[number, number], [number, number]][]) {
    near(chance(b, a) + chance(a, b), 1)
    near(chance(b, a), integrated(b, a), 1e-4)
  }
  near(chance([0, 100], [0, 100]), 0.5)
  t.ok(chance([100, 100], [0, 100]) > 0.999_999)
  near(chance([1, 1_000_000], [0, 1_000_000]), 0.75, 1e-4)
  // Of three, the best has not the chance that it would have against the second alone.
  const three = chancesOf([40, 100], [45, 100], [43, 100])
  near(
    three.reduce((a, b) => a + b),
    1,
    1e-4,
  )
  t.ok((three[1] ?? 0) < chance([45, 100], [43, 100]) - 0.05, `${three}`)
  near(chancesOf([7, 50], [7, 50], [7, 50])[0] ?? 0, 1 / 3, 1e-4)
  const begun = process.cpuUsage().user
  for (let n = 0; n < 100; n++) chance([20_000, 900_000], [19_999, 900_000])
  t.ok((process.cpuUsage().user - begun) / 100_000 < 20, 'some milliseconds at most')
})

/** By steps, and nothing of ours. */
function integrated(b: [number, number], a: [number, number]): number {
  const steps = 20_000
  const density = ([did, of]: [number, number]) => {
    const logs = Array.from({ length: steps }, (_, n) => {
      const x = (n + 0.5) / steps
      return did * Math.log(x) + (of - did) * Math.log(1 - x)
    })
    const most = Math.max(...logs)
    const all = logs.map((log) => Math.exp(log - most))
    const sum = all.reduce((one, other) => one + other, 0)
    return all.map((one) => one / sum)
  }
  const [ofB, ofA] = [density(b), density(a)]
  let below = 0
  let chance = 0
  for (let n = 0; n < steps; n++) {
    const here = ofA[n] ?? 0
    chance += (ofB[n] ?? 0) * (below + here / 2)
    below += here
  }
  return chance
}
