/** How many of how many did something. */
export interface Share {
  of: number
  did: number
}

// Of each distribution so much is looked at, in so many steps: beyond lies less than a millionth of it.
const deviations = 12
const steps = 1_000
// Where the logarithm of a density has an end.
const leastShare = 1e-12

/**
 * The chance of each share, from 0 to 1, that it is truly the highest; together they are 1. Each is a Beta distribution
 * that knows only what was counted (uniform priors). Wherever its true value may lie, that counts by how likely it is there and by
 * how likely all others are lower.
 */
export function chancesToBeHighest(shares: readonly Share[]): number[] {
  const places = shares.flatMap(placesOf).sort((a, b) => a - b)
  const curves = shares.map((share) => curveOf(share, places))
  return curves.map((own) => {
    let chance = 0
    for (let at = 0; at < places.length; at++) {
      let here = own.mass[at] ?? 0
      for (const other of curves) if (other !== own) here *= other.below[at] ?? 0
      chance += here
    }
    return Math.min(1, chance)
  })
}

/** Where the share may truly be, in equal steps. */
function placesOf(share: Share): number[] {
  const [alpha, beta] = betaOf(share)
  const all = alpha + beta
  const mean = alpha / all
  const away = deviations * Math.sqrt((alpha * beta) / (all * all * (all + 1)))
  const first = Math.max(leastShare, mean - away)
  const last = Math.min(1 - leastShare, mean + away)
  return Array.from({ length: steps }, (_, n) => first + ((last - first) * n) / (steps - 1))
}

/** How likely the share is at each place, and how likely it is below, half of the place included. */
function curveOf(share: Share, places: readonly number[]): { mass: number[]; below: number[] } {
  const [alpha, beta] = betaOf(share)
  const logs = places.map((x) => (alpha - 1) * Math.log(x) + (beta - 1) * Math.log1p(-x))
  const most = logs.reduce((a, b) => Math.max(a, b))
  const weights = logs.map((log, at) => {
    const width = (places[at + 1] ?? places[at] ?? 0) - (places[at - 1] ?? places[at] ?? 0)
    return Math.exp(log - most) * width
  })
  const all = weights.reduce((a, b) => a + b, 0)
  const mass = weights.map((weight) => weight / all)
  let sum = 0
  const below = mass.map((part) => {
    sum += part
    return sum - part / 2
  })
  return { mass, below }
}

const betaOf = ({ of, did }: Share) => [1 + did, 1 + Math.max(0, of - did)] as const
