import type { Store } from '../../src/store/index.js'

/** The store as one has it whose checks are done when `change` happens, and whose write comes after it. */
export function changedBeforeWrite(store: Store, change: () => Promise<unknown>): Store {
  let changed: Promise<unknown> | undefined
  const changing = () => {
    changed ??= change()
    return changed
  }
  return {
    ...store,
    async write(work) {
      await changing()
      return await store.write(work)
    },
    gather(together, weigh) {
      const gathered = store.gather(together, weigh)
      return async (item) => {
        await changing()
        return await gathered(item)
      }
    },
  }
}
