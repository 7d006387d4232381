import { parentPort, workerData } from 'node:worker_threads'
import { cpuFileOfThread } from '../clock/index.js'
import type { DnsAnswer, DnsQuestion, Resolver } from '../dns/index.js'
import {
  type Aggregate,
  type BounceRules,
  classify,
  type Evidence,
  evidenceOf,
  type FeedbackLoop,
  type Report,
  type ReportEnvelope,
  readAggregate,
  readReport,
  saidOf,
  type Verdict,
} from '../reports/index.js'

/** A report as it was read, and the rules' verdict on each of its failures. */
export interface ReportReading {
  report: Report
  /** One verdict for each recipient of a DSN. */
  verdicts: Verdict[]
  /** The proof of a complaint. */
  evidence?: Evidence
  /** Set for mail to an address for aggregate reports, of which nothing else is read. */
  aggregate?: Aggregate
}

/** From the thread that reads. */
export type ReaderReport =
  /** `cpuFile`: the file with its processor time; null if the kernel has none. */
  | { kind: 'ready'; cpuFile: string | null }
  | { kind: 'read'; at: number; reading: ReportReading }
  | { kind: 'question'; id: number; question: DnsQuestion; name: string }

/** To that thread; `at` and `id` come back with the answer. */
export type ReaderOrder =
  | { kind: 'mail'; at: number; raw: Uint8Array; envelope: ReportEnvelope; aggregate: boolean }
  | { kind: 'answer'; id: number; answer: DnsAnswer<unknown> }

/** The rules that judge reports; the thread gets them at its start. */
export interface Judging {
  bounceRules: BounceRules
  feedbackLoops: readonly FeedbackLoop[]
}

/** The whole life of the thread that reads: one mail after another, in the order in which they come. */
export function serveReadings(): void {
  const port = parentPort
  if (port === null) throw new Error("This is a worker thread's entry, not a program")
  const { bounceRules: rules, feedbackLoops: loops } = workerData as Judging
  const dns = resolverOver((report) => port.postMessage(report))
  let last: Promise<void> = Promise.resolve()
  port.on('message', (order: ReaderOrder) => {
    if (order.kind === 'answer') return dns.answered(order)
    const { at, raw, envelope, aggregate } = order
    last = last.then(async () => {
      const mail = Buffer.from(raw.buffer, raw.byteOffset, raw.length)
      const reading = aggregate
        ? { ...noReport, aggregate: await readAggregate(mail, dns.resolver) }
        : await readOne({ rules, loops, resolver: dns.resolver }, mail, envelope)
      port.postMessage({ kind: 'read', at, reading } satisfies ReaderReport)
    })
  })
  port.postMessage({ kind: 'ready', cpuFile: cpuFileOfThread() } satisfies ReaderReport)
}

const noReport: ReportReading = {
  report: {
    kind: 'not-a-report',
    why: 'It is an aggregate report',
    tokens: [],
    original: { messageId: '', to: '', subject: '' },
  },
  verdicts: [],
}

/** Reads one mail as a report, and judges what it says. */
async function readOne(
  deps: { rules: BounceRules; loops: readonly FeedbackLoop[]; resolver: Resolver },
  raw: Buffer,
  envelope: ReportEnvelope,
): Promise<ReportReading> {
  const { rules, loops, resolver } = deps
  const report = await readReport(raw, envelope)
  if (report.kind === 'arf' && report.feedback.means === 'complaint') {
    const evidence = await evidenceOf({ loops, raw, envelope, resolver })
    return { report, verdicts: [], evidence }
  }
  if (report.kind !== 'dsn') return { report, verdicts: [] }
  const { recipients, reportingMta } = report
  return {
    report,
    verdicts: recipients.map((recipient) => classify(rules, saidOf(recipient, reportingMta))),
  }
}

/** Asks the thread that started this one, which has the resolver, its cache and its limits. */
function resolverOver(post: (report: ReaderReport) => void) {
  const waiting = new Map<number, (answer: DnsAnswer<unknown>) => void>()
  let asked = 0
  const ask =
    <T>(question: DnsQuestion) =>
    (name: string) =>
      new Promise<DnsAnswer<T>>((resolve) => {
        const id = asked++
        waiting.set(id, resolve as (answer: DnsAnswer<unknown>) => void)
        post({ kind: 'question', id, question, name })
      })
  const resolver: Resolver = {
    txt: ask('txt'),
    a: ask('a'),
    aaaa: ask('aaaa'),
    mx: ask('mx'),
    cname: ask('cname'),
    // RFC 7208 §5.5: not to be used.
    ptr: async () => ({ kind: 'none' }),
  }
  return {
    resolver,
    answered({ id, answer }: { id: number; answer: DnsAnswer<unknown> }) {
      waiting.get(id)?.(answer)
      waiting.delete(id)
    },
  }
}
