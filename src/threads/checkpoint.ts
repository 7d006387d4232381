import { keepLogCopied } from '../app/copy-log.js'
import { makeEffects } from '../app/effects.js'
import { runThread, type ThreadContext, type ThreadWork } from '../app/thread.js'
import { joinBacklog, startCensus } from '../deliveries/index.js'
import { startRecipientIndex } from '../emails/index.js'
import { startEventNames } from '../events/index.js'
import { startRollUp } from '../stats/index.js'
import { openRecorder, recordHits } from '../tracking/index.js'

// Work that takes tenths of a second again and again and must make nobody wait: copying the write-ahead log into the
// database, counting the queue, entering mails by their recipients, counting the figures, counting events by their
// names, and recording opens and clicks that were already answered.
const start = async ({ data, store, clock, log }: ThreadContext): Promise<ThreadWork> => {
  const backlog = joinBacklog(data.backlog)
  const copying = keepLogCopied({ store, clock, log, backlog })
  // The others are here for the same reason: each takes tenths of a second.
  const census = startCensus({ store, clock, log, backlog })
  const recipients = startRecipientIndex({ store, clock, log })
  const figures = startRollUp({ store, clock, log })
  const names = startEventNames({ store, clock, log })
  const { config, agents } = data
  const land = makeEffects(config, data.plans)
  const machineWithinMs = config.tracking.machineWithin
  const recorder = openRecorder({ store, clock, log, land, agents, machineWithinMs })
  return {
    record: (hits) => recordHits(recorder, hits),
    reload: (files) => recorder.useAgents(files.agents),
    async stop() {
      await recorder.close()
      await Promise.all([copying.stop(), census.stop(), recipients.stop(), figures.stop()])
      await names.stop()
    },
  }
}

// The thread writes like a job, which gives way to clients.
await runThread('checkpoint', start, { background: true })
