/** How many turns the event loop had meanwhile: 0 where nobody else of the thread came to anything. */
export async function turnsDuring<T>(work: () => Promise<T>): Promise<{ value: T; turns: number }> {
  let turns = 0
  let ended = false
  const tick = () => {
    if (ended) return
    turns++
    setImmediate(tick)
  }
  setImmediate(tick)
  const value = await work()
  ended = true
  return { value, turns }
}
