const atOnce = 20

/** Some at a time; ends between two of them when the appliance stops. */
export async function someAtOnce<T>(
  items: readonly T[],
  signal: AbortSignal,
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
