/** Calls `run` in the next turn of the event loop, once for all that ask for it until then. */
export function onceATurn(run: () => void): () => void {
  let isPlanned = false
  return () => {
    if (isPlanned) return
    isPlanned = true
    setImmediate(() => {
      isPlanned = false
      run()
    })
  }
}
