/** How many of how many did something. */
export interface Share {
  of: number
  did: number
}

// A longer sum takes milliseconds and gives the same.
const longestSum = 20_000

/**
 * The chance, from 0 to 1, that the true share of `b` is higher than that of `a`. Both are Beta distributions that know
 * only what was counted (uniform priors); the closed sum is Evan Miller's, 'Formulas for Bayesian A/B Testing'. For
 * very large numbers it uses two normal distributions.
 */
export function chanceOfBetter(b: Share, a: Share): number {
  if (b.did > longestSum || a.did > longestSum) return chanceOfMany(b, a)
  // The sum has a term for each person of `b` who did it.
  return b.did <= a.did ? sum(b, a) : 1 - sum(a, b)
}

/** Term i is B(αa + i, βa + βb) / ((βb + i) B(1 + i, βb) B(αa, βa)); each follows from the one before it. */
function sum(b: Share, a: Share): number {
  const [alphaA, betaA] = betaOf(a)
  const [alphaB, betaB] = betaOf(b)
  const beta = betaA + betaB
  let log = lnGamma(alphaA + betaA) + lnGamma(beta) - lnGamma(alphaA + beta) - lnGamma(betaA)
  let total = 0
  for (let i = 0; i < alphaB; i++) {
    total += Math.exp(log)
    log += Math.log(((alphaA + i) * (betaB + i)) / ((alphaA + i + beta) * (1 + i)))
  }
  return Math.min(1, Math.max(0, total))
}

const betaOf = ({ of, did }: Share) => [1 + did, 1 + Math.max(0, of - did)] as const

/** Stirling's series, after eight steps up, where it is right to ten digits. */
function lnGamma(x: number): number {
  let below = 0
  let at = x
  for (; at < 9; at++) below += Math.log(at)
  const series = 1 / (12 * at) - 1 / (360 * at ** 3) + 1 / (1260 * at ** 5)
  return (at - 0.5) * Math.log(at) - at + Math.log(2 * Math.PI) / 2 + series - below
}

function chanceOfMany(b: Share, a: Share): number {
  const [meanB, varianceB] = normalOf(b)
  const [meanA, varianceA] = normalOf(a)
  return normal((meanB - meanA) / Math.sqrt(varianceA + varianceB))
}

function normalOf(share: Share) {
  const [alpha, beta] = betaOf(share)
  const all = alpha + beta
  return [alpha / all, (alpha * beta) / (all * all * (all + 1))] as const
}

/** The share of a normal distribution below z: Abramowitz and Stegun 26.2.17, right to seven digits. */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z))
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  const above = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series
  return z < 0 ? above : 1 - above
}
