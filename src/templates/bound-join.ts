import type { Budget } from './budget.js'

/**
 * Makes every array that turns into text, in whichever corner of liquidjs (or by `+` and `<`), draw
 * on the budget: 2,000 references to one variable of 256 KB would be half a gigabyte in one piece.
 * For the whole thread, which does nothing but render.
 */
export function boundArrayJoin(budget: Budget): void {
  const join = Array.prototype.join
  Array.prototype.join = function bounded(this: unknown[], separator: string = ',') {
    let length = String(separator).length * this.length
    for (let i = 0; i < this.length; i++) {
      const item = this[i]
      length += typeof item === 'string' ? item.length : 1
    }
    budget.take(length)
    return join.call(this, separator)
  }
}
