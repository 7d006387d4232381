import { type Clock, hourMs, isRecent } from '../clock/index.js'
import type { ReturnPaths } from '../deliveries/index.js'
import { fileAggregate } from '../dmarc/index.js'
import { messageOf } from '../errors/index.js'
import type { LandEvents } from '../events/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import type { Aggregate } from '../reports/index.js'
import { makeQuota } from '../smtpd/index.js'
import { isPassing, type Store, writeApart } from '../store/index.js'
import { concludeAll, doubtIn, tellFiled } from './filed.js'
import { parkReport } from './parked.js'
import type { Reader, ReadOutcome } from './reader.js'
import type { ReportReading } from './reading.js'
import type { Spool, SpooledMail } from './spool.js'

/** What processing the spool needs. */
export interface ClerkDeps {
  store: Store
  clock: Clock
  log: Log
  meter: Meter
  spool: Spool
  reader: Reader
  returnPaths: ReturnPaths
  land: LandEvents
}

// Mails that are read together, of half a mebibyte each at most.
const mailsAtOnce = 32
// A batch lasts at most this long, plus its last mail. Then the networks' turns are decided again, with newly arrived
// ones. A usual mail takes a millisecond, a hostile one two seconds.
const batchMs = 250
// How often it looks without being rung, also for parked reports that are to be read again.
const pollMs = 60_000
const faultPauseMs = 1_000
// The waits before a report about an unfinished delivery is read again: the final 250 and the
// report about it may come within a moment of each other.
const putOffMs = [1_000, 5_000, 30_000, 300_000]
// How many unproven reports are kept for the operator: forgeries must not fill the disk.
const keptAnHour = { most: 20, windowMs: hourMs }
// The wait before a mail that ended the reading thread is read once more, in case another mail was
// at fault.
const brokenOffMs = 60_000

interface Desk extends ClerkDeps {
  mayKeep: ReturnType<typeof makeQuota>
}

interface Clerk {
  ring(): void
  /** Rings, and makes the clerk look for mails that are to be taken in again. */
  ringAnew(): void
  close(): Promise<void>
}

/**
 * Processes the spool:
 *
 *     waiting ──read──▶ concluded: gone, with its effects, in one transaction
 *        ▲               │ too early, or reading was broken off
 *        └──put off──────┘ (some times; then gone without effect, and told)
 *
 * A crash at any moment leaves unconcluded mails in the spool. A mail that cannot be concluded for a
 * reason of its own is parked for the operator, and the others go on.
 */
export function startClerk(deps: ClerkDeps): Clerk {
  const { clock, log, spool, reader } = deps
  const desk = { ...deps, mayKeep: makeQuota(clock, keptAnHour) }
  let closed = false
  let rung = false
  let wake = () => {}

  const sleep = async (ms: number) => {
    if (closed || rung) return
    await new Promise<void>((resolve) => {
      const cancel = clock.after(ms, resolve)
      wake = () => {
        cancel()
        resolve()
      }
    })
  }
  // One batch is written while the next one is read, on another processor.
  const inHand = new Set<number>()
  /** Mails that can be neither concluded nor parked: left alone until the next start. */
  const stuck = new Set<number>()
  let takenBackAt = 0
  let most = mailsAtOnce
  let writing: Promise<void> = Promise.resolve()
  const fail = async (error: unknown) => {
    log.error({ cause: messageOf(error) }, 'Reports cannot be processed right now')
    rung = false
    await sleep(faultPauseMs)
  }
  const write = async (mails: readonly SpooledMail[], outcomes: readonly ReadOutcome[]) => {
    const settled = mails.map(async (mail, at) => {
      if (!(await settleOrPark(desk, mail, outcomes[at]))) stuck.add(mail.id)
    })
    const failed = (await Promise.allSettled(settled)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') await fail(failed.reason)
    for (const { id } of mails) inHand.delete(id)
  }
  const readSome = async () => {
    rung = false
    if (!isRecent(takenBackAt, clock.now(), pollMs)) {
      takenBackAt = clock.now()
      await spool.takeBack()
    }
    const due = await spool.next(most, new Set([...inHand, ...stuck]))
    if (due.length === 0 && inHand.size === 0) {
      const nextDue = spool.nextDue(stuck) ?? Number.POSITIVE_INFINITY
      return await sleep(Math.min(pollMs, nextDue - clock.now()))
    }
    const beganAt = clock.now()
    const outcomes = await reader.read(due, (at, tookMs) => {
      const mail = due[at]
      if (mail !== undefined) spool.wasRead(mail, tookMs)
      return isRecent(beganAt, clock.now(), batchMs)
    })
    await writing
    if (closed) return
    const mails = due.filter((_, at) => outcomes[at]?.kind !== 'not reached')
    // Not more mails are fetched than are read, as each may have half a mebibyte.
    most = mails.length === due.length ? Math.min(most * 2, mailsAtOnce) : Math.max(mails.length, 1)
    for (const { id } of mails) inHand.add(id)
    writing = write(
      mails,
      outcomes.filter(({ kind }) => kind !== 'not reached'),
    )
  }
  const work = async () => {
    while (!closed) await readSome().catch(fail)
    await writing
  }
  const running = work()
  const ring = () => {
    rung = true
    wake()
  }
  return {
    ring,
    ringAnew() {
      takenBackAt = 0
      ring()
    },
    async close() {
      closed = true
      wake()
      await reader.close()
      await running
    },
  }
}

/**
 * Resolves with whether the mail left the spool or was put off; rejects while the storage fails.
 */
async function settleOrPark(
  deps: Desk,
  mail: SpooledMail,
  outcome: ReadOutcome | undefined,
): Promise<boolean> {
  try {
    await settleOne(deps, mail, outcome)
    return true
  } catch (error) {
    if (isPassing(error)) throw error
    const { store, clock, log, meter, spool } = deps
    const parking = { fault: messageOf(error), now: clock.now() }
    const { left, faults, cause } = await writeApart(store.write, [mail], (tx) =>
      parkReport(tx, mail.id, parking),
    )
    if (left.length > 0) throw cause
    const { id, envelope } = mail
    const told = { id, remoteAddress: envelope.remoteAddress, cause: parking.fault }
    if (faults.length > 0) {
      log.error(
        told,
        'A report can neither be filed nor parked; it is left alone until the next start',
      )
      return false
    }
    spool.forget(mail)
    meter.count('posthorn_reports_total', { outcome: 'parked' })
    log.error(told, "A report cannot be filed; it is parked: 'posthorn bounce parked'")
    return true
  }
}

/** Acts on the outcome of reading one mail. */
async function settleOne(
  deps: Desk,
  mail: SpooledMail,
  outcome: ReadOutcome | undefined,
): Promise<void> {
  if (outcome?.kind === 'read') return await file(deps, mail, outcome.reading)
  if (outcome?.kind !== 'broken off') return
  const { store, log, meter, spool } = deps
  const again = mail.tries === 0
  if (again) return await putOff(deps, mail, brokenOffMs)
  await store.write((tx) => spool.remove(tx, mail))
  spool.forget(mail)
  meter.count('posthorn_reports_total', { outcome: 'unreadable' })
  const { recipients } = mail
  const { remoteAddress } = mail.envelope
  log.warn({ recipients, remoteAddress, cause: outcome.why }, 'A report could not be read')
}

/** Has a mail read again later. */
async function putOff({ store, clock, spool }: Desk, mail: SpooledMail, delayMs: number) {
  const dueAt = clock.now() + delayMs
  await store.write((tx) => spool.putOff(tx, mail, dueAt))
  spool.postponed(mail, dueAt)
}

/**
 * Counts an aggregate report; a mail that turns out to be something else is left to the operator, as far as there is
 * room.
 */
async function count(deps: Desk, mail: SpooledMail, aggregate: Aggregate): Promise<void> {
  const { store, spool, clock, log, meter } = deps
  const delay = putOffMs[mail.tries]
  const isUnsure = aggregate.kind !== 'unreadable' && 'unknown' in aggregate.signer
  if (isUnsure && delay !== undefined) return await putOff(deps, mail, delay)
  const filed = await store.write(async (tx) => {
    if (!(await spool.remove(tx, mail))) return undefined
    if (aggregate.kind !== 'unreadable') return await fileAggregate(tx, aggregate, clock.now())
    const subject = `No aggregate report that can be read: ${aggregate.why}`
    if (deps.mayKeep.take('all')) await spool.leaveToOperator(tx, mail, subject)
    return ['unreadable' as const]
  })
  spool.forget(mail)
  const { remoteAddress } = mail.envelope
  for (const outcome of filed ?? []) {
    meter.count('posthorn_reports_total', { outcome: `aggregate ${outcome}` })
    const why = aggregate.kind === 'unreadable' ? { why: aggregate.why } : {}
    log.info(
      { kind: aggregate.kind, outcome, remoteAddress, ...why },
      'An aggregate report was read',
    )
  }
}

/** Applies a report's effects, and removes it from the spool, in one transaction. */
async function file(deps: Desk, mail: SpooledMail, reading: ReportReading): Promise<void> {
  const { store, spool } = deps
  const delay = putOffMs[mail.tries]
  if (delay !== undefined && reading.evidence?.kind === 'unknown') {
    return await putOff(deps, mail, delay)
  }
  if (reading.aggregate !== undefined) return await count(deps, mail, reading.aggregate)
  const filed = await store.write(async (tx) => {
    const found = await concludeAll(tx, mail, reading, deps)
    if (delay !== undefined && found.some(({ conclusion }) => conclusion === 'too early')) {
      return 'too early'
    }
    if (!(await spool.remove(tx, mail))) return undefined
    const doubt = doubtIn(found)
    if (doubt !== undefined && deps.mayKeep.take('all')) {
      await spool.leaveToOperator(tx, mail, doubt)
    }
    return found
  })
  if (filed === 'too early') return await putOff(deps, mail, delay ?? 0)
  spool.forget(mail)
  if (filed === undefined) return
  tellFiled(deps, mail, reading, filed)
}
