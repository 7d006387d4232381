import { type Settlement, settle } from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import type { OutboundDeps } from './deps.js'

const retryWriteMs = 1_000
// Some ms of writing: others wait for the turn meanwhile.
const maxPerSettle = 32
const endings = { bounced: 'Bounced', failed: 'Given up', suppressed: 'Suppressed' }

/**
 * Writes settlements, many in one transaction. One that cannot be written is kept and tried again:
 * forgetting it would send the mail twice.
 */
export function makeRecorder(deps: OutboundDeps) {
  const { store, clock, log, thread, backlog, meter, land } = deps
  const waiting: { settlement: Settlement; done: () => void }[] = []
  let writing = false
  let failing = false

  const flush = async () => {
    writing = true
    // One turn of the event loop: attempts that end together are written together.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const batch = waiting.splice(0, maxPerSettle)
      try {
        const settlements = batch.map((entry) => entry.settlement)
        await store.write((tx) => settle(tx, settlements, { thread, now: clock.now(), land }))
        failing = false
        backlog.change(-settlements.filter(({ kind }) => kind !== 'deferred').length)
        for (const { settlement, done } of batch) {
          tell(settlement)
          done()
        }
      } catch (error) {
        failing = true
        waiting.unshift(...batch)
        log.error(
          { cause: messageOf(error), results: waiting.length },
          'Results could not be written',
        )
        await new Promise<void>((resolve) => {
          clock.after(retryWriteMs, resolve)
        })
      }
    }
    writing = false
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
