import type { Store } from '../../src/store/index.js'

/** The store as one has it whose checks are done when `change` happens, and whose write comes after it. */
export function changedBeforeWrite(store: Store, change: () => Promise<unknown>): Store {
  let changed: Promise<unknown> | undefined
  return {
    ...store,
    async write(work) {
      changed ??= change()
      await changed
      return await store.write(work)
    },
  }
}
