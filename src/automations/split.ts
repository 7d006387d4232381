import { createHash } from 'node:crypto'
import type { Branch } from './definition.js'

/**
 * The branch that `what` falls into: by its hash, so that the same contact falls into the same one
 * each time, and evenly over many. Branches add up to 100.
 */
export function branchOf(branches: readonly Branch[], what: string): string {
  // 48 bits, as a share of 100.
  const place = (createHash('sha256').update(what).digest().readUIntBE(0, 6) / 2 ** 48) * 100
  let upTo = 0
  for (const { key, percent } of branches) {
    upTo += percent
    if (place < upTo) return key
  }
  // Where percents are fractions, their sum may fall short of 100 by a rounding.
  return branches.at(-1)?.key ?? ''
}
