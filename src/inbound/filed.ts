import type { Clock } from '../clock/index.js'
import { deliveriesOf, findPast, type Past, type ReturnPaths } from '../deliveries/index.js'
import type { LandEvents } from '../events/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import type { Report } from '../reports/index.js'
import { isSimulated } from '../simulator/index.js'
import type { Tx } from '../store/index.js'
import { type Conclusion, conclude, inBrief } from './conclude.js'
import type { ReportReading } from './reading.js'
import type { SpooledMail } from './spool.js'

/** The result of a report for one of its deliveries. */
interface Filed {
  deliveryId: number
  emailId: string
  recipient: string
  /** `unproven`: the report shows nothing that others do not know too, so it has no effect. */
  conclusion: Conclusion | 'unproven'
}

/** Applies a report to each delivery that it is about. */
export async function concludeAll(
  tx: Tx,
  { recipients }: SpooledMail,
  reading: ReportReading,
  { returnPaths, land, clock }: { returnPaths: ReturnPaths; land: LandEvents; clock: Clock },
): Promise<Filed[]> {
  const { report } = reading
  const { deliveries, proven } = await deliveriesReported(tx, { returnPaths, recipients, report })
  const filed: Filed[] = []
  for (const past of deliveries) {
    const conclusion = proven
      ? await conclude(tx, past, reading, { land, now: clock.now() })
      : 'unproven'
    const { id: deliveryId, emailId, recipient } = past
    filed.push({ deliveryId, emailId, recipient, conclusion })
  }
  return filed
}

/**
 * The subject under which an operator may want to read the report: a forgery, or a complaint by a
 * feedback loop that is not on the list. Undefined for any other.
 */
export function doubtIn(filed: readonly Filed[]): string | undefined {
  for (const { conclusion, recipient } of filed) {
    if (conclusion === 'unproven') return `Unproven report about the mail to ${recipient}`
    if (conclusion === 'complained without proof' && !isSimulated(recipient)) {
      return `Unproved complaint about the mail to ${recipient}`
    }
  }
  return undefined
}

/** Counts and logs a report's results, after the commit. */
export function tellFiled(
  { log, meter }: { log: Log; meter: Meter },
  { recipients, envelope: { remoteAddress } }: SpooledMail,
  reading: ReportReading,
  filed: readonly Filed[],
): void {
  const { report } = reading
  const about = 'why' in report ? { kind: report.kind, why: report.why } : { kind: report.kind }
  if (filed.length === 0) {
    meter.count('posthorn_reports_total', { outcome: 'unknown' })
    log.info({ ...about, recipients, remoteAddress }, 'A report about no mail that is known')
  }
  for (const { conclusion, ...delivery } of filed) {
    meter.count('posthorn_reports_total', { outcome: conclusion })
    const brief = inBrief(reading, delivery.recipient)
    log.info({ ...about, ...delivery, ...brief, conclusion, remoteAddress }, 'A report was read')
  }
}

/** The deliveries that a report is about, and whether it shows that it may speak of them. */
interface Concerned {
  deliveries: Past[]
  proven: boolean
}

/**
 * Only what the recipient's servers alone know is proof: the signed return path to which the report
 * came, or one inside it, which each copy of a mail has in its CFBL-Address. Our Message-ID is no
 * proof, as every recipient of the mail knows it, and anybody can write an address into a report.
 */
async function deliveriesReported(
  tx: Tx,
  {
    returnPaths,
    recipients,
    report,
  }: {
    returnPaths: ReturnPaths
    /** The addresses that the report was sent to. */
    recipients: readonly string[]
    report: Report
  },
): Promise<Concerned> {
  const signed = (addresses: readonly string[]) =>
    addresses.map(returnPaths.deliveryOf).filter((id): id is number => id !== undefined)
  const addressed = signed(recipients)
  const ids = addressed.length > 0 ? new Set(addressed) : new Set(signed(report.tokens).slice(0, 1))
  const proven = ids.size > 0
  if (!proven) {
    const id = await byMessageId(tx, report)
    if (id !== undefined) ids.add(id)
  }
  const deliveries: Past[] = []
  for (const id of ids) {
    const past = await findPast(tx, id)
    if (past !== undefined) deliveries.push(past)
  }
  return { deliveries, proven }
}

/** The only delivery that the Message-ID and the named addresses leave; undefined for several. */
async function byMessageId(tx: Tx, report: Report): Promise<number | undefined> {
  const deliveries = await deliveriesOf(tx, report.original.messageId)
  const [only, ...others] = deliveries
  if (others.length === 0) return only?.id
  const named = addressesIn(report)
  const [one, ...more] = deliveries.filter(({ recipient }) => named.has(recipient.toLowerCase()))
  return more.length === 0 ? one?.id : undefined
}

/** All addresses that a report names, in lower case. */
function addressesIn(report: Report): Set<string> {
  const named =
    report.kind === 'dsn'
      ? report.recipients.flatMap((one) => [one.originalRecipient, one.finalRecipient])
      : report.kind === 'arf'
        ? [report.feedback.originalRecipient]
        : []
  return new Set(named.map((address) => address.toLowerCase()))
}
