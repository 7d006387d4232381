import { runThread } from '../app/thread.js'
import { messageOf } from '../errors/index.js'

// Often enough that little is left at a time, seldom enough that a busy page is copied for many writes.
const everyMs = 1_000

await runThread('checkpoint', async ({ store, clock, log }) => {
  const plan = (): (() => void) =>
    clock.after(everyMs, () => {
      try {
        store.checkpoint()
      } catch (error) {
        // The log grows meanwhile and loses nothing; the next run copies all of it.
        log.warn({ cause: messageOf(error) }, 'The write-ahead log could not be copied')
      }
      cancel = plan()
    })
  let cancel = plan()
  return { stop: async () => cancel() }
})
