import type { Store } from '../../src/store/index.js'

/** A store for code that does its checks first: `change` happens after them, and before its write. */
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
