/** A bounded queue in which owners take turns, so that an owner who fills it delays only their own jobs. */
export interface FairQueue<T> {
  /** False when there is no room, in all or for this owner, who gets at most half. */
  add(owner: string, item: T, bytes: number): boolean
  /** Puts a taken item back: it is next for its owner, and there is always room for it. */
  putBack(owner: string, item: T, bytes: number): void
  take(): T | undefined
}

interface Line<T> {
  items: { item: T; bytes: number }[]
  bytes: number
}

/**
 * An empty queue for `maxBytes` of items, of which one owner may have half. The queues on npm have priorities
 * (p-queue 9), but neither owners who take turns nor a bound in bytes.
 */
export function makeFairQueue<T>(maxBytes: number): FairQueue<T> {
  // In the order of turns: an owner who was served goes to the end.
  const lines = new Map<string, Line<T>>()
  let total = 0
  const lineOf = (owner: string): Line<T> => {
    const line = lines.get(owner) ?? { items: [], bytes: 0 }
    lines.set(owner, line)
    return line
  }
  const count = (line: Line<T>, bytes: number) => {
    line.bytes += bytes
    total += bytes
  }
  return {
    add(owner, item, bytes) {
      const taken = lines.get(owner)?.bytes ?? 0
      if (total + bytes > maxBytes || taken + bytes > maxBytes / 2) return false
      const line = lineOf(owner)
      line.items.push({ item, bytes })
      count(line, bytes)
      return true
    },
    putBack(owner, item, bytes) {
      const line = lineOf(owner)
      line.items.unshift({ item, bytes })
      count(line, bytes)
    },
    take() {
      for (const [owner, line] of lines) {
        lines.delete(owner)
        const first = line.items.shift()
        if (first === undefined) continue
        count(line, -first.bytes)
        if (line.items.length > 0) lines.set(owner, line)
        return first.item
      }
      return undefined
    },
  }
}
