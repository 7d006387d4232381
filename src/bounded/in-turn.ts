/**
 * Does one piece of work at a time. Owners take turns, and at most `mostWaiting` pieces of one owner wait; for more,
 * `full` is thrown.
 */
export function makeInTurn(
  mostWaiting: number,
  full: () => Error,
): <T>(owner: string, work: () => Promise<T>) => Promise<T> {
  // In the order of turns: an owner that had its turn goes to the end.
  const lines = new Map<string, (() => void)[]>()
  let isBusy = false
  const next = () => {
    for (const [owner, line] of lines) {
      lines.delete(owner)
      const begin = line.shift()
      if (line.length > 0) lines.set(owner, line)
      if (begin !== undefined) return begin()
    }
    isBusy = false
  }
  return async (owner, work) => {
    if (isBusy) {
      const line = lines.get(owner) ?? []
      if (line.length >= mostWaiting) throw full()
      lines.set(owner, line)
      await new Promise<void>((begin) => line.push(begin))
    }
    isBusy = true
    try {
      return await work()
    } finally {
      next()
    }
  }
}
