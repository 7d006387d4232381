import type { Store } from './store.js'

/**
 * Looks again only when somebody has committed since the last look, and else answers the same: for what the database
 * alone decides, and is asked by the second. A look that fails is made again.
 */
export function sinceCommit<Asked extends unknown[], Found>(
  store: Pick<Store, 'commits'>,
  look: (...asked: Asked) => Promise<Found>,
): (...asked: Asked) => Promise<Found> {
  let last: { commits: number; found: Found } | undefined
  return async (...asked) => {
    // Asked before: what is committed meanwhile is looked at by the next one.
    const commits = store.commits()
    if (last?.commits !== commits) last = { commits, found: await look(...asked) }
    return last.found
  }
}
