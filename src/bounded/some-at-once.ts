/**
 * Does `work` for all items, `atOnce` at a time; ends between two of them when `signal` says so. Rejects with the
 * first fault.
 */
export async function someAtOnce<T>(
  items: readonly T[],
  { atOnce, signal }: { atOnce: number; signal: AbortSignal },
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values()
  const next = async () => {
    for (const item of left) {
      if (signal.aborted) return
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, next))
}
