import type { QueueClass } from '../store/index.js'
import type { Place } from './places.js'
import { keptFrom } from './shaping/index.js'

/**
 * Attempts at sites that have not answered yet. Thousands of dead ones, each waited for some minutes,
 * would take all connections from those that work: so they have three quarters of them, one account
 * three quarters of that, and a fifth is for transactional mail as everywhere.
 */
export interface Untried {
  mayStart(of: QueueClass, accountId: string): boolean
  started(place: Place, accountId: string): void
  /** False when it was none of them. */
  ended(place: Place): boolean
  /** So many that they had better be told apart quickly. */
  isCrowded(): boolean
  readonly most: number
}

const shareOf = (whole: number) => Math.ceil((whole * 3) / 4)

export function makeUntried(total: number): Untried {
  const most = shareOf(total)
  const accounts = new Map<Place, string>()
  const perAccount = new Map<string, number>()
  const count = (accountId: string, by: 1 | -1) => {
    const left = (perAccount.get(accountId) ?? 0) + by
    if (left === 0) perAccount.delete(accountId)
    else perAccount.set(accountId, left)
  }
  return {
    most,
    mayStart(of, accountId) {
      const room = most - keptFrom(of, most)
      return accounts.size < room && (perAccount.get(accountId) ?? 0) < shareOf(most)
    },
    started(place, accountId) {
      accounts.set(place, accountId)
      count(accountId, 1)
    },
    ended(place) {
      const accountId = accounts.get(place)
      if (accountId === undefined) return false
      accounts.delete(place)
      count(accountId, -1)
      return true
    },
    isCrowded: () => accounts.size >= most / 2,
  }
}
