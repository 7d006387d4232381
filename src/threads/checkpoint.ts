import { runThread, type ThreadContext, type ThreadWork } from '../app/thread.js'
import { joinBacklog, startCensus } from '../deliveries/index.js'
import { startRecipientIndex } from '../emails/index.js'
import { messageOf } from '../errors/index.js'
import { startRollUp } from '../stats/index.js'

// Often enough that little is left at a time, seldom enough that a busy page is copied for many writes.
const everyMs = 250

const start = async ({ data, store, clock, log, meter }: ThreadContext): Promise<ThreadWork> => {
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
  // Also something that takes tenths of a second, which nobody may wait for.
  const census = startCensus({ store, clock, log, meter, backlog: joinBacklog(data.backlog) })
  const recipients = startRecipientIndex({ store, clock, log })
  const figures = startRollUp({ store, clock, log })
  return {
    async stop() {
      cancel()
      await Promise.all([census.stop(), recipients.stop(), figures.stop()])
    },
  }
}

// Its writes are a job's, which give way to clients.
await runThread('checkpoint', start, { background: true })
