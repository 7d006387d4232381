import type { Store } from './store.js'

/**
 * Looks again only when somebody has committed since the last look, and else gives the same answer: for questions
 * that only the database decides and that are asked every second. A failed look is made again.
 */
export function sinceCommit<Asked extends unknown[], Found>(
  store: Pick<Store, 'commits'>,
  look: (...asked: Asked) => Promise<Found>,
): (...asked: Asked) => Promise<Found> {
  let last: { commits: number; found: Found } | undefined
  return async (...asked) => {
    // Read before the look: what is committed meanwhile is seen by the next look.
    const commits = store.commits()
    if (last?.commits !== commits) last = { commits, found: await look(...asked) }
    return last.found
  }
}
