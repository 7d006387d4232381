import type { Store } from '../../src/store/index.js'

/**
 * The store of a process that is killed after so many commits: the next write, and each later one, never ends and
 * writes nothing. `onCommit` is called at each commit before that.
 */
export function mortalStore(store: Store, commits: number, onCommit = (_count: number) => {}) {
  let count = 0
  let kill = () => {}
  const died = new Promise<'died'>((resolve) => {
    kill = () => resolve('died')
  })
  const write = async (...given: Parameters<Store['write']>) => {
    if (count >= commits) {
      kill()
      return await new Promise<never>(() => {})
    }
    count++
    const result = await store.write(...given)
    onCommit(count)
    return result
  }
  const mortal = { value: Object.assign(write, store.write) }
  return {
    store: Object.create(store, { write: mortal, byRow: mortal }) as Store,
    died,
  }
}
