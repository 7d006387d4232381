/** How many turns the event loop had meanwhile: 0 where nothing else in the thread could run. */
export async function turnsDuring<T>(work: () => Promise<T>): Promise<{ value: T; turns: number }> {
  const end = countTurns()
  const value = await work()
  return { value, turns: end() }
}

/** Counts turns of the event loop until the returned function is called, which says how many they were. */
export function countTurns(): () => number {
  let turns = 0
  let ended = false
  const tick = () => {
    if (ended) return
    turns++
    setImmediate(tick)
  }
  setImmediate(tick)
  return () => {
    ended = true
    return turns
  }
}
