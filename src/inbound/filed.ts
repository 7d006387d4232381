import type { Clock } from '../clock/index.js'
import type { ReturnPaths } from '../deliveries/index.js'
import type { LandEvents } from '../events/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import { simulatorDomain } from '../simulator/index.js'
import type { Tx } from '../store/index.js'
import { type Conclusion, conclude, inBrief } from './conclude.js'
import type { Reading } from './reading.js'
import type { SpooledMail } from './spool.js'
import { deliveriesReported } from './whose.js'

/** What came of a report for one of the deliveries that it speaks of. */
export interface Filed {
  deliveryId: number
  emailId: string
  recipient: string
  /** `unproven`: it knows no more than others do, so nothing follows from it. */
  conclusion: Conclusion | 'unproven'
}

/** Brings about what a report means, for each delivery that it is about. */
export async function concludeAll(
  tx: Tx,
  { recipients }: SpooledMail,
  reading: Reading,
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
 * Under which subject an operator may want to look at the report: a forgery, or a complaint by a
 * feedback loop that is not on the list. Undefined for any other.
 */
export function doubtIn(filed: readonly Filed[]): string | undefined {
  for (const { conclusion, recipient } of filed) {
    if (conclusion === 'unproven') return `Unproven report about the mail to ${recipient}`
    if (conclusion === 'complained without proof' && !recipient.endsWith(`@${simulatorDomain}`)) {
      return `Unproved complaint about the mail to ${recipient}`
    }
  }
  return undefined
}

/** Counts and logs what came of a report, after the commit. */
export function tellFiled(
  { log, meter }: { log: Log; meter: Meter },
  { recipients, envelope: { remoteAddress } }: SpooledMail,
  reading: Reading,
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
