import { Worker } from 'node:worker_threads'
import { type Clock, type CpuClock, openCpuClock } from '../clock/index.js'
import type { DnsAnswer, DnsQuestion, Resolver } from '../dns/index.js'
import type { Log } from '../log/index.js'
import type { ReportEnvelope } from '../reports/index.js'
import type { Judging, ReaderOrder, ReaderReport, ReportReading } from './reading.js'

/** The outcome of reading a mail. */
export type ReadOutcome =
  | { kind: 'read'; reading: ReportReading }
  /** Reading took too long, or the thread died. */
  | { kind: 'broken off'; why: string }
  /** An earlier mail ended the thread, or this one was left for later. */
  | { kind: 'not reached' }

/** A mail that is to be read. */
interface ArrivedMail {
  raw: Buffer
  envelope: ReportEnvelope
  /** The mail came to an address for aggregate reports. */
  aggregate?: boolean
}

/** Reads mails in a thread of its own. */
export interface Reader {
  /**
   * One call at a time. Never rejects; an outcome for each mail, in their order. `goOn` is told how long each took;
   * if it returns false, the rest is left for later.
   */
  read(
    mails: readonly ArrivedMail[],
    goOn?: (at: number, tookMs: number) => boolean,
  ): Promise<ReadOutcome[]>
  /** Mails read from now on are judged by the present rules. */
  renew(): void
  close(): Promise<void>
}

/** What reading needs. */
interface ReaderDeps {
  clock: Clock
  log: Log
  /** Answers the thread's questions. */
  resolver: Resolver
  judging(): Judging
  /** The thread's file; tests have others. */
  entry?: URL
}

const threadEntry = new URL('../threads/reading.js', import.meta.url)
// The time for one mail (notes/mta.md §3); reading a usual one takes a millisecond.
const readTimeoutMs = 2_000
// A thread that got no processor is not at fault: the machine has too much to do. With five times as many runnable
// threads as processors, reports of a few kilobytes were given up (Nov 2026).
const longestReadMs = 20_000
/** The time between two checks of how long a silent thread has worked. */
const leastLookMs = 100
// The time for the thread's start: the machine may be busy.
const startTimeoutMs = 30_000
// A mail that needs more memory ends only the thread, not the appliance.
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 }

/** Hostile mail is parsed in a thread that may be lost, with bounded time and memory. */
export function makeReader(deps: ReaderDeps): Reader {
  const { clock, log, resolver, entry = threadEntry } = deps
  const questions = makeAnswering(resolver, clock)
  let thread: Worker | undefined
  let cpuFile: string | null = null
  let stale = false

  const end = async () => {
    const ending = thread
    thread = undefined
    await ending?.terminate()
  }
  const ready = async (): Promise<Worker> => {
    if (stale) await end()
    stale = false
    if (thread !== undefined) return thread
    const { bounceRules, feedbackLoops } = deps.judging()
    const workerData: Judging = { bounceRules, feedbackLoops }
    const options = { name: 'reading', workerData, resourceLimits, stdout: true }
    const started = new Worker(entry, options)
    // Discarded: mailauth prints text about hostile signatures, which no log needs.
    started.stdout.resume()
    // Without a listener an error would end this thread as well.
    started.on('error', () => {})
    started.once('exit', () => {
      if (thread === started) thread = undefined
    })
    const starting = {
      silenceMs: startTimeoutMs,
      longestMs: startTimeoutMs,
      cpu: openCpuClock(null),
    }
    const ended = await watched(started, clock, starting, async (report) => {
      if (report.kind === 'ready') cpuFile = report.cpuFile
      return report.kind === 'ready'
    })
    if (ended !== undefined) {
      await started.terminate()
      throw new Error(`The thread that reads reports cannot start: ${ended}`)
    }
    thread = started
    return started
  }

  return {
    async read(mails, goOn = () => true) {
      const outcomes: ReadOutcome[] = mails.map(() => ({ kind: 'not reached' }))
      if (mails.length === 0) return outcomes
      const worker = await ready()
      const order = (one: ReaderOrder, moved: ArrayBuffer[] = []) => worker.postMessage(one, moved)
      let next = 0
      let beganAt = 0
      // One at a time, as a mail that was given to the thread cannot be taken back.
      const give = () => {
        const mail = mails[next]
        if (mail === undefined) return false
        const { raw, envelope, aggregate = false } = mail
        // A copy to be transferred, as the buffer may be part of a larger one.
        const copy = new Uint8Array(raw)
        beganAt = clock.now()
        questions.nextMail(aggregate)
        order({ kind: 'mail', at: next, raw: copy, envelope, aggregate }, [copy.buffer])
        return true
      }
      const goesOn = () => goOn(next, Math.max(0, clock.now() - beganAt))
      give()
      const listen = async (report: ReaderReport) => {
        if (report.kind === 'question') {
          const answer = await questions.answer(report.question, report.name)
          order({ kind: 'answer', id: report.id, answer })
          return false
        }
        if (report.kind !== 'read') return false
        outcomes[report.at] = { kind: 'read', reading: report.reading }
        const isEnough = !goesOn()
        next++
        return isEnough || !give()
      }
      const cpu = openCpuClock(cpuFile)
      const reading = { silenceMs: readTimeoutMs, longestMs: longestReadMs, cpu }
      const why = await watched(worker, clock, reading, listen)
      cpu.close()
      if (why !== undefined) {
        if (next < mails.length) outcomes[next] = { kind: 'broken off', why }
        goesOn()
        log.warn({ cause: why }, 'Reading a report was broken off')
        await end()
      }
      return outcomes
    },
    renew() {
      stale = true
    },
    close: end,
  }
}

interface Patience {
  silenceMs: number
  /** The longest wait for a thread that had a processor for less than `silenceMs`. */
  longestMs: number
  /** The thread's processor time, or wall time if the kernel does not tell it. */
  cpu: CpuClock
}

/**
 * Listens to a thread until `isLast` accepts a report, then resolves with undefined. Resolves with
 * the reason if the thread died, or was silent for longer than `silenceMs`. While `isLast` works on a
 * report the thread waits for us, so its silence is not counted.
 */
function watched(
  worker: Worker,
  clock: Clock,
  { silenceMs, longestMs, cpu }: Patience,
  isLast: (report: ReaderReport) => Promise<boolean>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    let ended = false
    let working = 0
    let cancel = () => {}
    const wait = () => {
      const workedBefore = cpu.ms()
      let silentMs = 0
      let waitMs = silenceMs
      const late = () => {
        silentMs += waitMs
        // A thread may be charged slightly less than its whole time.
        const leftMs = 0.95 * silenceMs - (cpu.ms() - workedBefore)
        if (leftMs <= 0 || silentMs >= longestMs) return done('it takes too long')
        waitMs = Math.min(Math.max(leftMs, leastLookMs), longestMs - silentMs)
        cancel = clock.after(waitMs, late)
      }
      cancel = clock.after(silenceMs, late)
    }
    wait()
    const listen = async (report: ReaderReport) => {
      cancel()
      working++
      const last = await isLast(report)
      working--
      if (ended) return
      if (last) return done(undefined)
      cancel()
      if (working === 0) wait()
    }
    // An error may come before reports that were sent before it; Node hands over all of them before 'exit'. If we
    // ended at once, a mail that was already read would be blamed for the faulty one.
    let error: string | undefined
    const fail = ({ message }: Error) => {
      error = message
    }
    const exit = () => done(error ?? 'the thread has ended')
    const done = (why: string | undefined) => {
      ended = true
      cancel()
      worker.off('message', listen)
      worker.off('exit', exit)
      worker.off('error', fail)
      resolve(why)
    }
    worker.on('message', listen)
    worker.on('error', fail)
    worker.on('exit', exit)
  })
}

// RFC 7208 §4.6.4 allows ten look-ups for SPF, most of two questions; a signature needs one.
// Counted for all questions of one mail, while the others wait.
const usual = { most: 50, patienceMs: 10_000 }
// Aggregate reports make us look up anybody's keys: a stranger's name server may not take longer than the reading
// of a mail.
const ofAggregate = { most: 3, patienceMs: 2_000 }

/**
 * Answers the questions that a mail makes the thread ask, within bounds: too many questions, or one
 * that takes too long, get `failed`, as if the DNS were out of order. Never rejects.
 */
function makeAnswering(resolver: Resolver, clock: Clock) {
  let limits = usual
  let asked = 0
  let until: number | undefined
  return {
    /** The questions of the next mail begin. */
    nextMail(isAggregate = false) {
      limits = isAggregate ? ofAggregate : usual
      asked = 0
      until = undefined
    },
    async answer(question: DnsQuestion, name: string): Promise<DnsAnswer<unknown>> {
      until ??= clock.now() + limits.patienceMs
      const leftMs = until - clock.now()
      if (++asked > limits.most || leftMs <= 0) return failed('too much is asked')
      const asking: Promise<DnsAnswer<unknown>> = resolver[question](name)
      return await new Promise((resolve) => {
        const cancel = clock.after(leftMs, () => resolve(failed('it took too long')))
        const end = (answer: DnsAnswer<unknown>) => {
          cancel()
          resolve(answer)
        }
        asking.then(end, () => end(failed('a fault of ours')))
      })
    },
  }
}

/** A missing answer of the DNS. */
const failed = (cause: string): DnsAnswer<unknown> => ({ kind: 'failed', cause })
