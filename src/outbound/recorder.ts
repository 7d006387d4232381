import { pause, systemClock } from '../clock/index.js'
import { type Settlement, settle } from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import type { OutboundDeps } from './deps.js'

const retryWriteMs = 1_000
// Some ms of writing: others wait for the turn meanwhile.
const maxPerSettle = 32
// While mail ends all the time a write a few ms is enough: each costs as much as some mails in it.
const betweenFlushesMs = 10
// Together in the time that one sync takes.
const maxSettles = 4
const endings = { bounced: 'Bounced', failed: 'Given up', suppressed: 'Suppressed' }

interface Waiting {
  settlement: Settlement
  done: () => void
}

/**
 * Writes settlements, many in one transaction and several transactions a sync. One that cannot be written
 * is kept and tried again: forgetting it would send the mail twice.
 */
export function makeRecorder(deps: OutboundDeps) {
  const { store, clock, log, thread, backlog, meter, land } = deps
  const waiting: Waiting[] = []
  let writing = false
  let failing = false

  const flush = async () => {
    writing = true
    // One turn of the event loop: attempts that end together are written together.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const batches: Waiting[][] = []
      while (waiting.length > 0 && batches.length < maxSettles) {
        batches.push(waiting.splice(0, maxPerSettle))
      }
      failing = (await Promise.all(batches.map(write))).includes(false)
      if (failing) await pause(clock, retryWriteMs)
      // Of the disk and not of the mail: the system's time, whatever clock this one has.
      else if (waiting.length > 0) await pause(systemClock, betweenFlushesMs)
    }
    writing = false
  }

  const write = async (batch: readonly Waiting[]): Promise<boolean> => {
    const settlements = batch.map((entry) => entry.settlement)
    try {
      await store.write((tx) => settle(tx, settlements, { thread, now: clock.now(), land }))
    } catch (error) {
      waiting.unshift(...batch)
      log.error(
        { cause: messageOf(error), results: waiting.length },
        'Results could not be written',
      )
      return false
    }
    backlog.change(-settlements.filter(({ kind }) => kind !== 'deferred').length)
    for (const { settlement, done } of batch) {
      tell(settlement)
      done()
    }
    return true
  }

  const tell = (settlement: Settlement) => {
    const { kind, id, emailId, recipient, attempts, reply, remote, verdict } = settlement
    const means = verdict && { means: verdict.class, rule: verdict.rule }
    if (verdict) meter.count('posthorn_refusals_total', { means: verdict.class })
    meter.count('posthorn_attempts_total', { outcome: kind })
    const fields = { emailId, deliveryId: id, to: recipient, attempts, remote, reply, ...means }
    if (kind === 'delivered') log.info(fields, 'Delivered')
    else if (kind === 'relayed') log.info(fields, 'Relayed')
    else if (kind === 'deferred') {
      log.info({ ...fields, nextAttemptAt: new Date(settlement.dueAt).toISOString() }, 'Deferred')
    } else log.warn(fields, endings[kind])
  }

  return {
    record(settlement: Settlement, done: () => void) {
      waiting.push({ settlement, done })
      if (!writing) void flush()
    },
    /** True while results cannot be written: starting more would only put more at risk. */
    stuck: () => failing,
  }
}
