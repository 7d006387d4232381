import { keepLogCopied } from '../app/copy-log.js'
import { runThread, type ThreadContext, type ThreadWork } from '../app/thread.js'
import { joinBacklog, startCensus } from '../deliveries/index.js'
import { startRecipientIndex } from '../emails/index.js'
import { startRollUp } from '../stats/index.js'

const start = async ({ data, store, clock, log, meter }: ThreadContext): Promise<ThreadWork> => {
  const copying = keepLogCopied({ store, clock, log })
  // Also something that takes tenths of a second, which nobody may wait for.
  const census = startCensus({ store, clock, log, meter, backlog: joinBacklog(data.backlog) })
  const recipients = startRecipientIndex({ store, clock, log })
  const figures = startRollUp({ store, clock, log })
  return {
    async stop() {
      await Promise.all([copying.stop(), census.stop(), recipients.stop(), figures.stop()])
    },
  }
}

// Its writes are a job's, which give way to clients.
await runThread('checkpoint', start, { background: true })
