import { Worker } from 'node:worker_threads'
import { type Clock, type CpuClock, openCpuClock } from '../clock/index.js'
import type { DnsAnswer, DnsQuestion, Resolver } from '../dns/index.js'
import type { Log } from '../log/index.js'
import type { ReportEnvelope } from '../reports/index.js'
import type { Judging, ReaderOrder, ReaderReport, ReportReading } from './reading.js'

/** What became of a mail that was given to be read. */
export type ReadOutcome =
  | { kind: 'read'; reading: ReportReading }
  /** It took too long, or the thread with it. */
  | { kind: 'broken off'; why: string }
  /** Another one ended the thread before, or it was left for later. */
  | { kind: 'not reached' }

/** A mail that is to be read. */
interface ArrivedMail {
  raw: Buffer
  envelope: ReportEnvelope
  /** It came to an address for aggregate reports. */
  aggregate?: boolean
}

/** Reads mails in a thread of its own. */
export interface Reader {
  /**
   * One call at a time. Never rejects; an outcome for each mail, in their order. `goOn` hears how long each took, and
   * false leaves the rest for later.
   */
  read(
    mails: readonly ArrivedMail[],
    goOn?: (at: number, tookMs: number) => boolean,
  ): Promise<ReadOutcome[]>
  /** What is read from now on is judged by the rules as they are now. */
  renew(): void
  close(): Promise<void>
}

/** What reading needs. */
interface ReaderDeps {
  clock: Clock
  log: Log
  /** Asked on behalf of the thread. */
  resolver: Resolver
  judging(): Judging
  /** The thread's file; tests have others. */
  entry?: URL
}

const threadEntry = new URL('../threads/reading.js', import.meta.url)
// The time for one mail (notes/mta.md §3); reading a usual one takes a millisecond.
const readTimeoutMs = 2_000
// A thread that had no processor for so long is not at fault: the machine has too much to do. With five times as many
// threads that want to run as processors, reports of a few kilobytes were given up (Nov 2026).
const longestReadMs = 20_000
/** Between two looks at how long a silent thread has worked. */
const leastLookMs = 100
// The time for the thread's start: the machine may be busy.
const startTimeoutMs = 30_000
// A mail that needs more memory ends the thread and not the appliance.
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 }

/** Hostile mail is taken apart in a thread that may be lost: with time and memory bounded. */
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
    // What mailauth prints of hostile signatures is nobody's log.
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
      // One at a time: what was given to the thread cannot be taken back.
      const give = () => {
        const mail = mails[next]
        if (mail === undefined) return false
        const { raw, envelope, aggregate = false } = mail
        // A copy that goes over: the buffer may be part of a larger one.
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
  /** With a thread that has had a processor for less than `silenceMs` meanwhile. */
  longestMs: number
  /** The thread's, or wall time where the kernel does not say. */
  cpu: CpuClock
}

/**
 * Listens to a thread until `isLast` says so of a report; resolves with undefined then, or with why
 * there is no more: it has died, or was silent for longer than `silenceMs`. While `isLast` works on a
 * report the thread waits for us, and its silence is not counted.
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
        // It may have had its time for all but a moment at each end.
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
    // An error may come before reports that were sent before it; Node hands over all of them before 'exit'. Ended at
    // once, a mail that was read would be blamed for the one that was at fault.
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

// RFC 7208 §4.6.4 has ten look-ups for SPF, most of two questions; a signature has one.
// All questions of one mail: the others wait meanwhile.
const usual = { most: 50, patienceMs: 10_000 }
// Anybody's keys are looked up for an aggregate report: no stranger's name server is waited for any longer than a
// mail may take to be read.
const ofAggregate = { most: 3, patienceMs: 2_000 }

/**
 * Answers what a mail that is read makes the thread ask, within bounds: a mail with too many questions,
 * or with one that takes too long, gets `failed`, as if the DNS were out of order. Never rejects.
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

/** An answer of the DNS that did not come. */
const failed = (cause: string): DnsAnswer<unknown> => ({ kind: 'failed', cause })
