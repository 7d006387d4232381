import { Worker } from 'node:worker_threads'
import { type Clock, type CpuClock, openCpuClock } from '../clock/index.js'
import type { DnsAnswer, Resolver } from '../dns/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { MailOrigin, ReadMail } from './read-mail.js'
import type { ReadingOrder, ReadingReport } from './reading.js'

/** The result of reading a mail. */
export type ReadingEnd =
  | { kind: 'read'; read: ReadMail }
  | { kind: 'unreadable'; why: string }
  /** The thread was lost meanwhile, because of this mail or another one beside it. */
  | { kind: 'broken off'; why: string }

/** Reads mails in a separate thread, several at a time. */
export interface MailReader {
  /** Never rejects. */
  read(raw: Buffer, origin: MailOrigin): Promise<ReadingEnd>
  close(): Promise<void>
}

interface ReaderDeps {
  clock: Clock
  log: Log
  /** Answers the thread's questions. */
  resolver: Resolver
  /** The thread's file; tests use others. */
  entry?: URL
}

interface UnderWay {
  asked: number
  until: number
  /** Questions that the DNS has not answered yet. */
  open: number
  bytes: number
  end(outcome: ReadingEnd): void
}

const threadEntry = new URL('../threads/received.js', import.meta.url)
// The most processor time between two signs of life; a usual mail takes some milliseconds. A large mail gets more.
const patienceMs = 2_000
const patienceMsAMib = 300
// An overloaded machine is not the mail's fault, but nobody waits for ever.
const longestSilenceMs = 30_000
const lookMs = 250
const startTimeoutMs = 30_000
// RFC 7208 §4.6.4 allows ten look-ups for SPF, most of two questions; a signature has one, and 20 are looked at.
const dns = { most: 60, patienceMs: 10_000 }
// A mail that needs more memory ends the thread, not the appliance.
const resourceLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32 }

/** Parses hostile mail in a thread that may be lost, with bounded time and memory. */
export function makeMailReader(deps: ReaderDeps): MailReader {
  const { clock, log, resolver, entry = threadEntry } = deps
  let thread: Promise<Worker> | undefined
  let running: Worker | undefined
  let cpu: CpuClock = openCpuClock(null)
  const underWay = new Map<number, UnderWay>()
  let given = 0
  let heardAt = clock.now()
  let workedMs = 0
  let cancelLook = () => {}
  let isLooking = false

  const heard = () => {
    heardAt = clock.now()
    workedMs = cpu.ms()
  }
  /** Ends the thread, and tells the mails that were under way. */
  const lose = (why: string) => {
    const lost = running
    running = undefined
    thread = undefined
    cpu.close()
    cpu = openCpuClock(null)
    const mails = [...underWay.values()]
    underWay.clear()
    for (const { end } of mails) end({ kind: 'broken off', why })
    void lost?.terminate()
  }
  const look = () => {
    isLooking = underWay.size > 0
    if (!isLooking) return
    cancelLook = clock.after(lookMs, () => {
      const mails = [...underWay.values()]
      const mib = Math.max(0, ...mails.map(({ bytes }) => bytes)) / 2 ** 20
      const isWaiting = mails.length > 0 && mails.every(({ open }) => open > 0)
      const hasWorkedMs = cpu.ms() - workedMs
      const silentMs = clock.now() - heardAt
      const isOver =
        hasWorkedMs > patienceMs + mib * patienceMsAMib ||
        (silentMs > longestSilenceMs && !isWaiting)
      if (running !== undefined && isOver) {
        log.warn({ mails: mails.length }, 'Reading mail that came in was broken off')
        lose('it takes too long')
      }
      look()
    })
  }
  const answer = async (report: Extract<ReadingReport, { kind: 'question' }>, worker: Worker) => {
    const mail = underWay.get(report.mail)
    if (mail === undefined) return
    mail.open++
    const found = await ask(resolver, clock, mail, report)
    mail.open--
    heard()
    if (worker !== running) return
    worker.postMessage({ kind: 'answer', id: report.id, answer: found } satisfies ReadingOrder)
  }
  const take = (report: ReadingReport, worker: Worker) => {
    heard()
    if (report.kind === 'question') return void answer(report, worker)
    if (report.kind === 'ready') return
    const mail = underWay.get(report.mail)
    underWay.delete(report.mail)
    if (report.kind === 'read') mail?.end({ kind: 'read', read: report.read })
    else mail?.end({ kind: 'unreadable', why: report.why })
  }
  const ready = (): Promise<Worker> => {
    thread ??= startThread(entry, clock, {
      begun(worker, cpuFile) {
        cpu = openCpuClock(cpuFile)
        running = worker
      },
      told: take,
      ended(worker, why) {
        if (worker === running) lose(why)
      },
    }).catch((error: unknown) => {
      thread = undefined
      throw error
    })
    return thread
  }

  return {
    async read(raw, origin) {
      let worker: Worker
      try {
        worker = await ready()
      } catch (error) {
        return { kind: 'broken off', why: messageOf(error) }
      }
      return await new Promise((end) => {
        const mail = given++
        const until = clock.now() + dns.patienceMs
        if (underWay.size === 0) heard()
        underWay.set(mail, { asked: 0, until, open: 0, bytes: raw.length, end })
        if (worker !== running) return lose('the thread has ended')
        worker.postMessage({ kind: 'mail', mail, raw, origin } satisfies ReadingOrder)
        if (!isLooking) look()
      })
    },
    async close() {
      cancelLook()
      const closing = await thread?.catch(() => undefined)
      lose('the appliance stops')
      await closing?.terminate()
    },
  }
}

interface Listening {
  begun(worker: Worker, cpuFile: string | null): void
  told(report: ReadingReport, worker: Worker): void
  ended(worker: Worker, why: string): void
}

/** Resolves with a thread that is ready; rejects when it ends before. */
function startThread(entry: URL, clock: Clock, listening: Listening): Promise<Worker> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(entry, { name: 'received', resourceLimits, stdout: true })
    // mailauth prints a line when a body hash covers more than there is. Any sender can cause that, so it is not
    // logged.
    worker.stdout.resume()
    let why = 'the thread has ended'
    const cancel = clock.after(startTimeoutMs, () => void worker.terminate())
    worker.on('error', (error) => {
      why = messageOf(error)
    })
    worker.on('message', (report: ReadingReport) => {
      if (report.kind === 'ready') {
        cancel()
        listening.begun(worker, report.cpuFile)
        resolve(worker)
      }
      listening.told(report, worker)
    })
    worker.once('exit', () => {
      cancel()
      reject(new Error(`The thread that reads mail cannot start: ${why}`))
      listening.ended(worker, why)
    })
  })
}

/**
 * Asks within a mail's bounds: a question too many, or too slow, is answered as if the DNS had failed. Never rejects.
 */
function ask(
  resolver: Resolver,
  clock: Clock,
  mail: UnderWay,
  { question, name }: Extract<ReadingReport, { kind: 'question' }>,
): Promise<DnsAnswer<unknown>> {
  const leftMs = mail.until - clock.now()
  if (++mail.asked > dns.most || leftMs <= 0) return Promise.resolve(failed('too much is asked'))
  const asking: Promise<DnsAnswer<unknown>> = resolver[question](name)
  return new Promise((resolve) => {
    const cancel = clock.after(leftMs, () => resolve(failed('it took too long')))
    const end = (answer: DnsAnswer<unknown>) => {
      cancel()
      resolve(answer)
    }
    asking.then(end, () => end(failed('a fault of ours')))
  })
}

/** A DNS answer that did not come. */
const failed = (cause: string): DnsAnswer<unknown> => ({ kind: 'failed', cause })
