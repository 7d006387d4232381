import { parentPort, workerData } from 'node:worker_threads'
import {
  type BounceRules,
  classify,
  loadBounceRules,
  type Report,
  readReport,
  saidOf,
  type Verdict,
} from '../reports/index.js'

/** A report as it was read, and what the rules make of each failure that it tells of. */
export interface Reading {
  report: Report
  /** Of a DSN: one for each of its recipients. */
  verdicts: Verdict[]
}

/** From the thread that reads. */
export type ReaderReport = { kind: 'ready' } | { kind: 'read'; at: number; reading: Reading }

/** To it; `at` comes back with the answer. */
export interface ReaderOrder {
  at: number
  raw: Uint8Array
}

export interface ReaderData {
  ruleFiles: readonly string[]
}

/** The whole life of the thread that reads: one mail after another, in the order in which they come. */
export function serveReadings(): void {
  const port = parentPort
  if (port === null) throw new Error("This is a worker thread's entry, not a program")
  const rules = loadBounceRules((workerData as ReaderData).ruleFiles)
  let last: Promise<void> = Promise.resolve()
  port.on('message', ({ at, raw }: ReaderOrder) => {
    last = last.then(async () => {
      const reading = await readOne(rules, Buffer.from(raw.buffer, raw.byteOffset, raw.length))
      port.postMessage({ kind: 'read', at, reading } satisfies ReaderReport)
    })
  })
  port.postMessage({ kind: 'ready' } satisfies ReaderReport)
}

async function readOne(rules: BounceRules, raw: Buffer): Promise<Reading> {
  const report = await readReport(raw)
  if (report.kind !== 'dsn') return { report, verdicts: [] }
  const { recipients, reportingMta } = report
  return {
    report,
    verdicts: recipients.map((recipient) => classify(rules, saidOf(recipient, reportingMta))),
  }
}
