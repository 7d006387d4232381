import { nextTurn } from '../../bounded/index.js'
import { isoTime, pause, systemClock } from '../../clock/index.js'
import {
  holdsBack,
  isEnded,
  leaseOf,
  park,
  type Settlement,
  settle,
} from '../../deliveries/index.js'
import { internalReason, messageOf } from '../../errors/index.js'
import { makeSeldom } from '../../log/index.js'
import { largeProviderOf } from '../../protection/index.js'
import { wordsOfCause, writeApart } from '../../store/index.js'
import type { OutboundDeps } from '../deps.js'
import { type LatelySent, makeLatelySent } from './lately.js'

// The rest after results that could not be written.
const retryWriteMs = 1_000
// Results in one transaction: some ms of writing, in which others wait for their turn.
const maxPerSettle = 64
// The rest between two writes while mail ends all the time: a write costs as much as some of the mails in it, so a
// few larger writes are better.
const betweenFlushesMs = 30
// Transactions at once: together they take the time of one sync.
const maxSettles = 4
// The log's words for each end that is not a delivery.
const endings = { bounced: 'Bounced', failed: 'Given up', suppressed: 'Suppressed' }

/** `stuck`: neither its result nor a hold could be written, so it must not be claimed again. */
export type Recorded = 'written' | 'held' | 'stuck'

/** Takes results, and writes them down as soon as it can. */
export interface ResultRecorder extends Pick<LatelySent, 'endOf'> {
  /** `done` is called once, when the result is written or can be written in no way. */
  record(result: Waiting): void
  /** True while results cannot be written: to start more would only put more at risk. */
  stuck(): boolean
}

type RecorderDeps = Pick<
  OutboundDeps,
  'store' | 'clock' | 'log' | 'meter' | 'thread' | 'backlog' | 'land' | 'journal'
>

/** A result that is not written yet. */
interface Waiting {
  settlement: Settlement
  /** Why the mail can never leave as it is stored: its delivery is held and not settled. */
  fault?: string | undefined
  done: (how: Recorded) => void
}

/**
 * Writes settlements, many in one transaction and several transactions a sync. While the storage fails they are kept
 * and tried again: forgetting one would send the mail twice. A settlement that cannot be written for a reason of its
 * own holds up no other: its delivery is held for the operator. So is the delivery of a mail that cannot be composed.
 */
export function makeRecorder(deps: RecorderDeps): ResultRecorder {
  const { store, clock, log, thread, backlog, land } = deps
  const lease = leaseOf(store.node, thread)
  const waiting: Waiting[] = []
  let writing = false
  let failing = false
  const seldom = makeSeldom(clock)
  const lately = makeLatelySent(deps)

  const flush = async () => {
    writing = true
    // One turn of the event loop: attempts that end together are written together.
    await nextTurn()
    while (waiting.length > 0) {
      const batches: Waiting[][] = []
      while (waiting.length > 0 && batches.length < maxSettles) {
        batches.push(waiting.splice(0, maxPerSettle))
      }
      failing = (await Promise.all(batches.map(write))).includes(false)
      if (failing) await pause(clock, retryWriteMs)
      // The pause is for the disk and not for the mail, so it goes by the system's time.
      else await pause(systemClock, betweenFlushesMs)
    }
    writing = false
  }

  /** Whether the storage took them all, as written or as held. */
  const write = async (batch: readonly Waiting[]): Promise<boolean> => {
    const sound = batch.filter(({ fault }) => fault === undefined)
    const { written, faults, left, ...outcome } = await writeApart(
      holdsBack(sound.map(({ settlement }) => settlement)) ? store.write : store.byRow,
      sound,
      (tx, entries) => {
        const settlements = entries.map(({ settlement }) => settlement)
        return settle(tx, settlements, { lease, now: clock.now(), land })
      },
    )
    lately.note(written.map(({ settlement }) => settlement))
    backlog.change(-written.filter(({ settlement }) => isEnded(settlement)).length)
    for (const { settlement, done } of written) {
      tell(deps, settlement)
      done('written')
    }
    let { cause } = outcome
    const causes = faults.map(({ item, error }) => ({ item, fault: messageOf(error) }))
    const faulty = batch.flatMap((item) =>
      item.fault === undefined ? [] : [{ item, fault: item.fault }],
    )
    for (const { item, fault } of [...causes, ...faulty]) {
      const failed = await holdBack(deps, item, fault)
      if (failed === undefined) continue
      left.push(item)
      cause = failed.cause
    }
    if (left.length === 0) return true
    waiting.unshift(...left)
    const told = { cause: wordsOfCause(cause), results: waiting.length }
    seldom(() => log.error(told, 'Results could not be written; it is tried each second'))
    return false
  }

  return {
    record(result) {
      waiting.push(result)
      if (!writing) void flush()
    },
    stuck: () => failing,
    endOf: lately.endOf,
  }
}

/**
 * Holds the delivery of a result that cannot be written, or of a mail that cannot be composed. If the storage fails,
 * resolves with the reason: then all of it is to be tried again.
 */
async function holdBack(
  { store, clock, log, thread }: RecorderDeps,
  { settlement, fault, done }: Waiting,
  cause: string,
): Promise<{ cause?: unknown } | undefined> {
  const { id, emailId, recipient, kind, reply } = settlement
  const isUnsent = fault !== undefined
  const what = isUnsent
    ? 'it cannot be composed'
    : `its last attempt ended as ${kind}, which cannot be written`
  const now = clock.now()
  const { faults, ...held } = await writeApart(store.byRow, [settlement], (tx) =>
    park(tx, settlement, {
      lease: leaseOf(store.node, thread),
      now,
      reason: internalReason(what, cause),
      isUnsent,
    }),
  )
  if (held.left.length > 0) return held
  const about = { deliveryId: id, emailId, to: recipient, cause }
  const fields = isUnsent ? about : { ...about, outcome: kind, reply }
  const fact = isUnsent ? 'A mail cannot be composed' : 'A result cannot be written'
  if (faults.length > 0) {
    log.error(fields, `${fact}, nor its delivery be held; it is left alone until the next start`)
    done('stuck')
  } else {
    log.error(fields, `${fact}; its delivery is held: 'posthorn queue held'`)
    done('held')
  }
  return undefined
}

/** Counts a written settlement, and logs it. */
function tell({ meter, log }: RecorderDeps, settlement: Settlement): void {
  const { kind, id, emailId, recipient, attempts, reply, remote, verdict } = settlement
  if (kind === 'held') {
    log.info({ emailId, deliveryId: id, to: recipient }, `Held: ${reply}`)
    return
  }
  const means = verdict && { means: verdict.class, rule: verdict.rule }
  if (verdict) meter.count('posthorn_refusals_total', { means: verdict.class })
  meter.count('posthorn_attempts_total', { outcome: kind })
  const provider = largeProviderOf(recipient, remote)
  meter.count('posthorn_provider_attempts_total', { provider, outcome: kind })
  if (kind === 'deferred') {
    meter.count('posthorn_deferrals_total', { reason: verdict?.class ?? 'other' })
  }
  const fields = { emailId, deliveryId: id, to: recipient, attempts, remote, reply, ...means }
  if (kind === 'delivered') log.info(fields, 'Delivered')
  else if (kind === 'relayed') log.info(fields, 'Relayed')
  else if (kind === 'deferred') {
    log.info({ ...fields, nextAttemptAt: isoTime(settlement.dueAt) }, 'Deferred')
  } else log.warn(fields, endings[kind])
}
